import { PostdateError } from './errors.js'
import { deriveMessageId } from './ids.js'
import type { Attributes, Message, MessageKind } from './message.js'
import type { SendOptions } from './options.js'
import { type Outbox, type PreparedMessage, type Receipt, receiptOf } from './outbox.js'
import type { RecallOutcome } from './persistence.js'
import type { Inherited } from './prepare.js'
import { checkRecallOn, type KeyRecallResult } from './recalling.js'
import type { FailureHistory } from './redelivery/failure-history.js'
import { bufferAll, prepareAll, type SendEntry, type SendOutcome } from './send-all.js'
import type { BusSettings } from './settings.js'
import type { ReceivedEnvelope } from './wire.js'

/** What a recall answers. */
export interface RecallResult {
  readonly outcome: RecallOutcome
  readonly messageId: string
  /** Epoch milliseconds. */
  readonly dueAt: number
}

/**
 * What a handler sends with. Sends are buffered, and go out together when the handler has resolved; a handler that throws
 * sends nothing.
 */
export interface MessageContext {
  /** Buffers a command. @throws PostdateError as `bus.send`, and `context.closed` once the handler has ended */
  send(command: Message, options?: SendOptions): Promise<Receipt>
  /** Buffers an event. @throws PostdateError as `bus.publish`, and `context.closed` once the handler has ended */
  publish(event: Message, options?: SendOptions): Promise<Receipt>
  /** Buffers many commands, each with options of its own. One outcome per message, in order. @throws PostdateError `context.closed`, `options.invalid` */
  sendAll(commands: readonly SendEntry[]): Promise<readonly SendOutcome[]>
  /** Buffers many events; otherwise as `sendAll`. */
  publishAll(events: readonly SendEntry[]): Promise<readonly SendOutcome[]>
  /** Withdraws a message: one still in the buffer is removed there; a stored one is recalled at once, whatever the handler does later. */
  recall(recallHandle: string): Promise<RecallResult>
  /** Withdraws the message under a key: what is in the buffer is removed there, and what is stored is recalled at once. */
  recallByKey(key: string): Promise<KeyRecallResult>
}

/** The context of a handler of messages: also tells of the message that is being handled. */
export interface HandlerContext extends MessageContext {
  readonly messageId: string
  readonly correlationId: string
  readonly attributes: Attributes
  readonly stickyAttributes: Attributes
  readonly headers: Readonly<Record<string, string>>
  /** When it was sent or scheduled, epoch milliseconds; 0 when its sender did not say. */
  readonly sentAt: number
  /** The instant it waited for, epoch milliseconds; absent when it was sent at once. */
  readonly dueAt?: number
  /** How long after its due instant the handler was called, in milliseconds; absent when it was sent at once. */
  readonly latenessMs?: number
  /** Counts deliveries to this receiver, from 1. */
  readonly attempt: number
  /** The key that it was scheduled under; absent when it had none. */
  readonly key?: string
  /** What went wrong at this receiver before; absent when nothing did. */
  readonly failure?: FailureHistory
}

/** A context that whoever calls the handler holds: to let its sends go, or drop them. */
export interface OpenContext {
  readonly context: MessageContext
  /** Stores and publishes what was sent; resolves when all of it is durable. @throws PostdateError of the first that was not */
  flush(): Promise<void>
  /** Drops what was sent, and closes the context. */
  discard(): void
}

/** Where the messages of a context come from. */
export interface ContextOrigin {
  /** The message being handled, and by whom; absent in a function that no message called. */
  readonly handling?: { readonly received: ReceivedEnvelope; readonly receiver: string; readonly handler: string }
  /** Refuse delayed sends on a persistence that isn't durable, as in a Lambda. @default that of the bus */
  readonly requireDurable?: boolean
}

const inherit = ({ handling }: ContextOrigin): Inherited => {
  if (handling === undefined) return {}
  const { correlationId, stickyAttributes } = handling.received.envelope
  return { correlationId, stickyAttributes }
}

/** Recalls what is stored. */
export type StoredRecalls = Pick<MessageContext, 'recall' | 'recallByKey'>

/** Opens a context. `stored` recalls what is not in the buffer. */
export const openContext = (
  origin: ContextOrigin,
  outbox: Outbox,
  settings: BusSettings,
  stored: StoredRecalls,
): OpenContext => {
  let buffer: PreparedMessage[] = []
  let closed = false
  const occurrences = new Map<string, number>()
  const inherited = inherit(origin)
  const { handling, requireDurable = settings.requireDurable } = origin

  const makeId = (content: string): string => {
    if (handling === undefined) return settings.ids.messageId()
    const occurrence = occurrences.get(content) ?? 0
    occurrences.set(content, occurrence + 1)
    const { received, receiver, handler } = handling
    return deriveMessageId({ incomingId: received.envelope.messageId, receiver, handler, content, occurrence })
  }

  const checkOpen = (attempted: string): void => {
    if (closed) throw new PostdateError('context.closed', { attempted })
  }

  const prepare = (kind: MessageKind, message: Message, options: object) =>
    outbox.prepare({ kind, message, options, inherited, makeId, requireDurable })

  const add = async (kind: MessageKind, message: Message, options: SendOptions = {}): Promise<Receipt> => {
    checkOpen(`a ${kind} was sent`)
    const prepared = await prepare(kind, message, options)
    checkOpen(`a ${kind} was sent`)
    buffer.push(prepared)
    return receiptOf(prepared, 'buffered')
  }

  const addAll = async (kind: MessageKind, entries: readonly SendEntry[]): Promise<readonly SendOutcome[]> => {
    checkOpen(`a ${kind} was sent`)
    const all = await prepareAll(entries, (message, options) => prepare(kind, message, options))
    checkOpen(`a ${kind} was sent`)
    return bufferAll(all, (prepared) => buffer.push(prepared))
  }

  const context: MessageContext = {
    send: (command, options) => add('command', command, options),
    publish: (event, options) => add('event', event, options),
    sendAll: (commands) => addAll('command', commands),
    publishAll: (events) => addAll('event', events),
    recall: async (recallHandle) => {
      checkRecallOn(settings)
      const buffered = buffer.find((prepared) => prepared.recallHandle === recallHandle)
      if (buffered?.row === undefined) return stored.recall(recallHandle)
      // An own messageId may be in the buffer several times: it is one message, and is taken back as one.
      buffer = buffer.filter((prepared) => prepared.recallHandle !== recallHandle)
      return { outcome: 'recalled', messageId: buffered.envelope.messageId, dueAt: buffered.row.dueAt }
    },
    recallByKey: async (key) => {
      const found = await stored.recallByKey(key)
      const last = buffer.findLast(({ asked }) => asked?.key === key)
      buffer = buffer.filter(({ asked }) => asked?.key !== key)
      if (last?.row === undefined || !['not-found', 'already-recalled'].includes(found.outcome)) return found
      return { outcome: 'recalled', messageId: last.envelope.messageId, dueAt: last.row.dueAt }
    },
  }

  return {
    context,
    flush: async () => {
      closed = true
      const messages = buffer
      buffer = []
      if (messages.length === 0) return
      const results = await outbox.deliver(messages, handling === undefined ? 'own' : 'derived')
      for (const result of results) if (!result.ok) throw result.error
    },
    discard: () => {
      closed = true
      buffer = []
    },
  }
}

/** The context of a handler of messages, from that of its sends. */
export const describeHandling = (context: MessageContext, received: ReceivedEnvelope, now: number): HandlerContext => {
  const { messageId, correlationId, attributes, stickyAttributes, headers, sentAt, key, failure } = received.envelope
  const { dueAt, attempt } = received.delivery
  return {
    ...context,
    messageId,
    correlationId,
    attributes,
    stickyAttributes,
    headers,
    sentAt,
    attempt,
    ...(key !== undefined && { key }),
    ...(failure !== undefined && { failure }),
    ...(dueAt !== undefined && { dueAt, latenessMs: now - dueAt }),
  }
}
