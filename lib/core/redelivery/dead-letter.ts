import { toJsonText, utf8Bytes } from '../envelope.js'
import { PostdateError } from '../errors.js'
import type { IncomingRecord } from '../transport.js'
import { type WireMessage, wireBytes } from '../wire.js'
import { cutText, type FailureHistory, fitFailure } from './failure-history.js'

/** A record that is given up on, and why. */
export interface DeadLetter {
  readonly record: IncomingRecord
  readonly receiver: string
  /** For people. */
  readonly reason: string
  /** The attempt that was the last; absent when the record could not be read. */
  readonly attempt?: number
  /** Epoch milliseconds. */
  readonly diedAt: number
  /** What the handlers failed at. */
  readonly failure?: FailureHistory
}

/** Where a receiver's records go that are given up on. */
export interface DeadLetters {
  readonly name: string
  /**
   * Keeps one dead letter; resolves when that is durable.
   * @throws PostdateError `receiver.dead-letter-failed` when it can't be kept: the record is then given back to its queue
   */
  send(letter: DeadLetter): Promise<void>
}

/** The attribute of a dead letter that says why, as JSON. A record with it was put back: its failures are counted anew. */
export const DEAD_LETTER_ATTRIBUTE = 'deadLetter'

/** With the one of ours ten, which is all that SQS takes. */
const MOST_ATTRIBUTES = 9
/** The lengths of a reason that are tried, in UTF-16 units. */
const REASON_LENGTHS = [1_000, 200, 60]

/**
 * The failures before the last may have taken all the room that the limit left; the dead letter tells them itself, so they
 * need not be told twice.
 */
const withoutFailure = (delivery: string): string => {
  try {
    const { failure: _, ...rest } = JSON.parse(delivery) as { readonly failure?: unknown }
    return toJsonText(rest)
  } catch {
    // Of a record that can't be read, kept as it came.
    return delivery
  }
}

const attributesToKeep = ({ attributes }: IncomingRecord, isRead: boolean): Record<string, string> => {
  const present = Object.entries(attributes).filter(([name, value]) => name !== DEAD_LETTER_ATTRIBUTE && value !== '')
  return Object.fromEntries(
    present
      .slice(0, MOST_ATTRIBUTES)
      .map(([name, value]) => [name, isRead && name === 'delivery' ? withoutFailure(value) : value]),
  )
}

/**
 * Writes a dead letter for a queue: the record as it came, but for its history of failures, and one more attribute that says
 * why, with that history, cut to what the limit leaves.
 * @throws PostdateError `receiver.dead-letter-failed` when the record itself leaves no room for a reason
 */
export const toDeadLetterWire = (letter: DeadLetter, maxBytes: number, deadLetters: string): WireMessage => {
  const { record, receiver, attempt, diedAt, failure } = letter
  const write = (reason: string, cut: FailureHistory | undefined): WireMessage => ({
    body: record.body,
    attributes: {
      ...attributesToKeep(record, attempt !== undefined),
      [DEAD_LETTER_ATTRIBUTE]: toJsonText({
        reason,
        receiver,
        ...(attempt !== undefined && { attempt }),
        diedAt,
        ...(cut !== undefined && { failure: cut }),
      }),
    },
  })
  for (const longest of REASON_LENGTHS) {
    const reason = cutText(letter.reason, longest)
    const roomBytes = maxBytes - wireBytes(write(reason, undefined)) - utf8Bytes(',"failure":')
    const wire = write(reason, failure === undefined ? undefined : fitFailure(failure, roomBytes))
    if (wireBytes(wire) <= maxBytes) return wire
  }
  throw new PostdateError('receiver.dead-letter-failed', {
    deadLetters,
    recordId: record.recordId,
    reason: `the record leaves no room for a reason in ${maxBytes} bytes`,
  })
}
