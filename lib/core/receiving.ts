import { type ContextOrigin, describeHandling, type OpenContext } from './context.js'
import { PostdateError, reasonOf } from './errors.js'
import type { Message } from './message.js'
import type { Receiver } from './receiver.js'
import type { BusSettings } from './settings.js'
import type { IncomingRecord } from './transport.js'
import { fromWire, type ReceivedEnvelope } from './wire.js'

/** How many records are handled at once. */
export interface ReceivingOptions {
  /** From 1. @default 10 */
  readonly concurrency?: number
}

/** Opens a context for a message being handled. */
export type ContextOpener = (origin: ContextOrigin) => OpenContext

const readRecord = (record: IncomingRecord): { received: ReceivedEnvelope; message: Message } => {
  try {
    const received = fromWire(record)
    const message: unknown = JSON.parse(record.body)
    if (typeof message !== 'object' || message === null || Array.isArray(message))
      throw new SyntaxError('its body is no JSON object')
    return { received, message: message as Message }
  } catch (error) {
    throw new PostdateError('receiver.unreadable-record', { recordId: record.recordId, rule: reasonOf(error) }, error)
  }
}

const handleRecord = async (record: IncomingRecord, receiver: Receiver, settings: BusSettings, open: ContextOpener) => {
  const { received, message } = readRecord(record)
  const { name, messageId } = received.envelope
  const handler = receiver.handlers.get(name)
  if (handler === undefined) {
    throw new PostdateError('receiver.no-handler', {
      name,
      receiver: receiver.name,
      known: [...receiver.handlers.keys()],
    })
  }
  const { context, flush, discard } = open({
    handling: { received, receiver: receiver.name, handler: handler.messageName },
  })
  try {
    await handler.handle(message, describeHandling(context, received, settings.clock.now()))
  } catch (error) {
    discard()
    throw error
  }
  await flush()
  settings.observe({ type: 'handled', messageId, name, receiver: receiver.name })
}

/**
 * Handles a batch of records, each on its own: one that is unreadable, unknown or whose handler throws fails alone. A
 * record has succeeded once its handler has resolved and everything it sent is durable.
 * @returns the ids of the records that failed, to be delivered again; all others are to be acknowledged.
 * @throws PostdateError `options.invalid` when nothing could be handled at that concurrency
 */
export const handleRecords = async (
  records: readonly IncomingRecord[],
  receiver: Receiver,
  settings: BusSettings,
  open: ContextOpener,
  { concurrency = 10 }: ReceivingOptions = {},
): Promise<readonly string[]> => {
  // With no worker at all every record would be acknowledged unhandled.
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    const rule = 'it must be an integer from 1'
    throw new PostdateError('options.invalid', { option: 'concurrency', value: String(concurrency), rule })
  }
  const failed: string[] = []
  const waiting = records.values()
  const work = async () => {
    for (const record of waiting) {
      try {
        await handleRecord(record, receiver, settings, open)
      } catch (error) {
        failed.push(record.recordId)
        const about = { recordId: record.recordId, receiver: receiver.name, reason: reasonOf(error) }
        settings.logger.error('a message was not handled and will be delivered again', {
          ...about,
          messageId: record.attributes.messageId,
          messageName: record.attributes.messageName,
        })
        settings.observe({ type: 'handling-failed', ...about })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, records.length) }, work))
  return failed
}
