import { PostdateError, reasonOf } from '../errors.js'
import type { Message } from '../message.js'
import type { IncomingRecord } from '../transport.js'
import { fromWire, type ReceivedEnvelope } from '../wire.js'
import { DEAD_LETTER_ATTRIBUTE } from './dead-letter.js'

/** A record that could be read. */
export interface ReadRecord {
  readonly record: IncomingRecord
  readonly received: ReceivedEnvelope
  readonly message: Message
  /** When it was a dead letter, the text of that attribute: it was put back by hand. */
  readonly putBack: string | undefined
}

/** An operator who puts a dead letter back wants it tried again, so its failures are counted anew. */
const forgetFailures = (received: ReceivedEnvelope): ReceivedEnvelope => {
  const { failure: _, ...envelope } = received.envelope
  return { ...received, envelope }
}

/**
 * Reads a record.
 * @throws PostdateError `receiver.unreadable-record`
 */
export const readRecord = (record: IncomingRecord): ReadRecord => {
  try {
    const received = fromWire(record)
    const message: unknown = JSON.parse(record.body)
    if (typeof message !== 'object' || message === null || Array.isArray(message))
      throw new SyntaxError('its body is no JSON object')
    const putBack = record.attributes[DEAD_LETTER_ATTRIBUTE]
    const counted = putBack === undefined ? received : forgetFailures(received)
    return { record, received: counted, message: message as Message, putBack }
  } catch (error) {
    throw new PostdateError('receiver.unreadable-record', { recordId: record.recordId, rule: reasonOf(error) }, error)
  }
}
