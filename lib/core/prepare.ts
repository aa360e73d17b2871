import { describeValue } from './describe-value.js'
import { contentOf, type Envelope, toJsonText, utf8Bytes } from './envelope.js'
import { PostdateError } from './errors.js'
import { type Attributes, HOW_DEFINED, type Message, type MessageKind } from './message.js'
import { findNotPlain } from './plain-json.js'
import { toWire, wireBytes } from './wire.js'

/** A message on its way out, as outgoing middleware sees it. */
export interface OutgoingDraft {
  readonly kind: MessageKind
  readonly message: Message
  readonly attributes: Attributes
  readonly stickyAttributes: Attributes
  readonly correlationId: string | undefined
  /** When it is to be delivered, epoch milliseconds; `undefined` for at once. */
  readonly dueAt: number | undefined
  /** Middleware writes here; values are text. They reach the receiver with the message. */
  readonly headers: Record<string, string>
}

/** Sees each message once, when it is sent or scheduled, and never again when it falls due. */
export type OutgoingMiddleware = (draft: OutgoingDraft) => void | Promise<void>

/** What a message takes over from the one that is being handled. */
export interface Inherited {
  readonly correlationId?: string
  readonly stickyAttributes?: Attributes
}

const NAME = /^[\w./:-]{1,256}$/

const checkMessage = (message: unknown): Message => {
  const refuse = (rule: string, value: unknown) =>
    new PostdateError('message.invalid', { rule, value: describeValue(value) })
  if (typeof message === 'function') throw refuse(`a message is an object (${HOW_DEFINED})`, message)
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    throw refuse('a message is an object', message)
  const { $name, $version } = message as Partial<Message>
  if (typeof $name !== 'string' || !NAME.test($name)) {
    throw refuse('$name must be 1 to 256 letters, digits and _ . / : -', $name)
  }
  if (!Number.isSafeInteger($version) || ($version ?? 0) < 1)
    throw refuse('$version must be an integer from 1', $version)
  const bad = findNotPlain(message)
  if (bad) throw new PostdateError('message.not-plain-json', { path: bad.path, what: bad.what })
  return message as Message
}

const toBody = (message: Message): string => {
  const { $name, $version } = message
  // A class may define them on its prototype, where JSON does not look.
  const complete = Object.hasOwn(message, '$name') && Object.hasOwn(message, '$version')
  return toJsonText(complete ? message : { ...message, $name, $version })
}

const checkHeaders = (headers: Readonly<Record<string, unknown>>): void => {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && name !== '') continue
    const rule = `it is ${describeValue(value)}, not text`
    throw new PostdateError('message.invalid-attributes', { where: 'headers', name: name || '""', rule })
  }
}

/**
 * Makes the envelope of a message: checks it, inherits, runs the middleware once. `makeId` is asked for the id when the
 * sender gave none, with the content that it may be made from; in the same turn as this call. The options were checked.
 * @throws PostdateError `message.invalid`, `message.not-plain-json`, `message.invalid-attributes`
 */
export const prepareEnvelope = async (order: {
  readonly kind: MessageKind
  readonly message: unknown
  readonly options: object
  /** When it is due, epoch milliseconds; a function where that depends on the id, asked in the same turn as this call. */
  readonly dueAt: number | undefined | ((messageId: string) => number | undefined)
  readonly discardAfterMs?: number | undefined
  readonly sentAt: number
  readonly inherited: Inherited
  readonly middleware: readonly OutgoingMiddleware[]
  readonly makeId: (content: string) => string
}): Promise<Envelope> => {
  const { kind, options, discardAfterMs, sentAt, inherited } = order
  const message = checkMessage(order.message)
  const given = options as Partial<Envelope>
  const attributes = { ...given.attributes }
  const stickyAttributes = { ...inherited.stickyAttributes, ...given.stickyAttributes }
  const content = { kind, name: message.$name, body: toBody(message), attributes }
  const correlationId = given.correlationId ?? inherited.correlationId
  // Before anything is waited for: sends that run side by side get their ids in the order of their calls, in every run.
  const messageId = given.messageId ?? order.makeId(contentOf(content))
  const dueAt = typeof order.dueAt === 'function' ? order.dueAt(messageId) : order.dueAt
  const headers: Record<string, string> = {}
  for (const middleware of order.middleware) {
    await middleware({ kind, message, attributes, stickyAttributes, correlationId, dueAt, headers })
  }
  checkHeaders(headers)
  return {
    ...content,
    messageId,
    correlationId: correlationId ?? messageId,
    stickyAttributes,
    headers: { ...headers },
    sentAt,
    ...(dueAt !== undefined && discardAfterMs !== undefined && { discardAfterMs }),
  }
}

/** A limit on an envelope, and whose it is. */
export interface EnvelopeLimit {
  readonly maxBytes: number
  /** E.g. `the topic (sns)`. */
  readonly limit: string
}

/** What every limit keeps back, so that a redelivery has room for its attempt, first failure and last error. */
export const REDELIVERY_RESERVE_BYTES = 1_024

const biggestPart = (envelope: Envelope): string => {
  const parts = (['body', 'attributes', 'stickyAttributes', 'headers'] as const).map((part) => {
    const value = envelope[part]
    return { part, bytes: utf8Bytes(typeof value === 'string' ? value : toJsonText(value)) }
  })
  const [biggest] = parts.sort((a, b) => b.bytes - a.bytes)
  return biggest === undefined ? 'unknown' : `${biggest.part} (${biggest.bytes} bytes)`
}

/**
 * Checks the final envelope, as it goes over the wire, against the smallest of the limits.
 * @throws PostdateError `message.too-large`, which names size, limit and whose it is
 */
export const checkSize = (envelope: Envelope, dueAt: number | undefined, limits: readonly EnvelopeLimit[]): void => {
  const [smallest] = [...limits].sort((a, b) => a.maxBytes - b.maxBytes)
  if (smallest === undefined) return
  const maxBytes = smallest.maxBytes - REDELIVERY_RESERVE_BYTES
  const bytes = wireBytes(toWire(envelope, { attempt: 1, ...(dueAt !== undefined && { dueAt }) }))
  if (bytes <= maxBytes) return
  const { name } = envelope
  throw new PostdateError('message.too-large', {
    name,
    bytes,
    maxBytes,
    limit: smallest.limit,
    biggest: biggestPart(envelope),
  })
}
