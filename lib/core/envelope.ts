import type { Attributes, MessageKind } from './message.js'
import { type FailureHistory, readFailure } from './redelivery/failure-history.js'

/** A message ready to travel: its JSON text and all that goes with it. Made once, when the message is sent or scheduled. */
export interface Envelope {
  readonly messageId: string
  readonly kind: MessageKind
  /** The message's `$name`. */
  readonly name: string
  /** The message's JSON and nothing else. It is never parsed or written anew on its way. */
  readonly body: string
  readonly correlationId: string
  readonly attributes: Attributes
  readonly stickyAttributes: Attributes
  /** Written and read by middleware, never by senders. */
  readonly headers: Readonly<Record<string, string>>
  /** When it was sent or scheduled, epoch milliseconds. */
  readonly sentAt: number
  /** The key that it was scheduled under, for who receives it. A redelivery is not scheduled under it: it holds no key. */
  readonly key?: string
  /** What went wrong at the one receiver that a redelivery is for. */
  readonly failure?: FailureHistory
  /**
   * How long after its due instant it is worth dispatching, in milliseconds; what waits longer is dead. It never goes over
   * the wire: a receiver gets no deadline, as it gets no delay. @default for ever
   */
  readonly discardAfterMs?: number
}

/** The parts of an envelope that a row keeps in attributes of its own. */
export type EnvelopeIdentity = Pick<Envelope, 'messageId' | 'kind' | 'name' | 'sentAt'>

const isEmpty = (map: object) => Object.keys(map).length === 0

/**
 * JSON text in which U+FFFE and U+FFFF are escaped: they are valid in JSON, and SNS and SQS refuse them.
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
 */
export const toJsonText = (value: unknown): string =>
  JSON.stringify(value).replace(/[\uFFFE\uFFFF]/g, (character) => (character === '\uFFFE' ? '\\ufffe' : '\\uffff'))

/**
 * The text that stores keep: a line of JSON with what is not empty, then the body. JSON text holds no raw line break, so
 * the first one parts the two, and the body stays byte for byte what the sender wrote.
 */
export const encodeEnvelope = (envelope: Envelope): string => {
  const { messageId, correlationId, attributes, stickyAttributes, headers, body, key, discardAfterMs, failure } =
    envelope
  const meta = {
    ...(correlationId !== messageId && { correlationId }),
    ...(!isEmpty(attributes) && { attributes }),
    ...(!isEmpty(stickyAttributes) && { stickyAttributes }),
    ...(!isEmpty(headers) && { headers }),
    ...(key !== undefined && { key }),
    ...(discardAfterMs !== undefined && { discardAfterMs }),
    ...(failure !== undefined && { failure }),
  }
  return `${toJsonText(meta)}\n${body}`
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whoever damaged it: what is of another type than it should be would break whoever measures the message, or writes it. */
const readMeta = (line: string): Partial<Envelope> => {
  const meta: unknown = JSON.parse(line)
  if (!isMap(meta)) throw new SyntaxError('its first line is no JSON object')
  for (const name of ['attributes', 'stickyAttributes', 'headers'])
    if (meta[name] !== undefined && !isMap(meta[name])) throw new SyntaxError(`its ${name} are no JSON object`)
  const { correlationId = '', discardAfterMs = 0 } = meta
  if (typeof correlationId !== 'string') throw new SyntaxError('its correlationId is no text')
  if (!Number.isSafeInteger(discardAfterMs)) throw new SyntaxError('its discardAfterMs is no whole number')
  return meta
}

/**
 * Reads what `encodeEnvelope` wrote.
 * @throws SyntaxError when the text is not of that form; the caller knows which row it came from.
 */
export const decodeEnvelope = (text: string, identity: EnvelopeIdentity): Envelope => {
  const end = text.indexOf('\n')
  if (end < 0) throw new SyntaxError('an envelope is a line of JSON, a line break, and the body')
  const meta = readMeta(text.slice(0, end))
  const failure = readFailure(meta.failure)
  return {
    ...identity,
    correlationId: meta.correlationId ?? identity.messageId,
    attributes: meta.attributes ?? {},
    stickyAttributes: meta.stickyAttributes ?? {},
    headers: meta.headers ?? {},
    ...(meta.key !== undefined && { key: meta.key }),
    ...(meta.discardAfterMs !== undefined && { discardAfterMs: meta.discardAfterMs }),
    ...(failure !== undefined && { failure }),
    body: text.slice(end + 1),
  }
}

/** Whether two envelopes hold the same message: what a sender repeats under one id must be this. Headers and times don't count. */
export const sameContent = (one: Envelope, other: Envelope): boolean => contentOf(one) === contentOf(other)

/** What ids of a handler's sends are made from, and what a repeated id must agree in. */
export const contentOf = (envelope: Pick<Envelope, 'kind' | 'name' | 'body' | 'attributes'>): string =>
  toJsonText([envelope.kind, envelope.name, envelope.body, envelope.attributes])

/** The bytes of a text as UTF-8. */
export const utf8Bytes = (text: string): number => {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80) continue
    // A pair of surrogates is 4 bytes in 2 units; a lone one becomes U+FFFD, 3 bytes.
    const next = code >= 0xd800 && code < 0xdc00 ? text.charCodeAt(i + 1) : 0
    if (next >= 0xdc00 && next < 0xe000) {
      bytes += 2
      i++
    } else bytes += code < 0x800 ? 1 : 2
  }
  return bytes
}
