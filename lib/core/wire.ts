import { type Envelope, toJsonText, utf8Bytes } from './envelope.js'
import type { Attributes, MessageKind } from './message.js'
import { readFailure } from './redelivery/failure-history.js'

/** What a delivery adds to its envelope. */
export interface Delivery {
  /** The instant it waited for, epoch milliseconds; absent when it was sent at once. */
  readonly dueAt?: number
  /** Counts deliveries to one receiver, from 1. */
  readonly attempt: number
  /** The one receiver of a redelivery; absent on a first delivery, which goes to all. */
  readonly target?: string
}

/** A message as queues and topics carry it: a body and at most ten attributes of text, none of them empty. */
export interface WireMessage {
  readonly body: string
  readonly attributes: Readonly<Record<string, string>>
}

/** An envelope together with its delivery: what a receiver makes of a wire message. */
export interface ReceivedEnvelope {
  readonly envelope: Envelope
  readonly delivery: Delivery
}

/** The attribute that subscriptions filter on. */
export const ROUTE_ATTRIBUTE = 'route'

/** The route of a message: its name, or `@<receiver>` for a redelivery, so that no other subscriber sees it twice. */
export const routeOf = (name: string, target: string | undefined): string =>
  target === undefined ? name : `@${target}`

const isEmpty = (map: object) => Object.keys(map).length === 0

/** Writes a message as it goes over the wire. `docs/reference/wire-format.md` is its description for other languages. */
export const toWire = (envelope: Envelope, delivery: Delivery): WireMessage => {
  const { attributes, stickyAttributes, headers, sentAt, key, failure } = envelope
  const { dueAt, attempt, target } = delivery
  return {
    body: envelope.body,
    attributes: {
      messageId: envelope.messageId,
      messageName: envelope.name,
      kind: envelope.kind,
      correlationId: envelope.correlationId,
      [ROUTE_ATTRIBUTE]: routeOf(envelope.name, target),
      delivery: toJsonText({
        sentAt,
        ...(dueAt !== undefined && { dueAt }),
        attempt,
        ...(key !== undefined && { key }),
        ...(failure !== undefined && { failure }),
      }),
      ...(!isEmpty(attributes) && { attributes: toJsonText(attributes) }),
      ...(!isEmpty(stickyAttributes) && { stickyAttributes: toJsonText(stickyAttributes) }),
      ...(!isEmpty(headers) && { headers: toJsonText(headers) }),
    },
  }
}

/** The bytes that SNS and SQS count: the body, and of each attribute its name, its type (`String`) and its value. */
export const wireBytes = (wire: WireMessage): number => {
  let bytes = utf8Bytes(wire.body)
  for (const [name, value] of Object.entries(wire.attributes)) bytes += name.length + 'String'.length + utf8Bytes(value)
  return bytes
}

const isKind = (kind: string | undefined): kind is MessageKind => kind === 'command' || kind === 'event'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const readMap = (text: string | undefined): Record<string, unknown> => {
  if (text === undefined) return {}
  const value: unknown = JSON.parse(text)
  if (!isRecord(value)) throw new SyntaxError(`an attribute holds ${text.slice(0, 40)} where an object is expected`)
  return value
}

const readInstant = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) ? (value as number) : undefined

/**
 * Reads a message as it came over the wire. Senders in other languages need to give only `messageId`, `messageName`,
 * `kind` and `route`.
 * @throws SyntaxError saying what is missing or malformed.
 */
export const fromWire = (wire: WireMessage): ReceivedEnvelope => {
  const { messageId, messageName: name, kind, correlationId, route } = wire.attributes
  if (!messageId) throw new SyntaxError('the attribute messageId is missing')
  if (!name) throw new SyntaxError('the attribute messageName is missing')
  if (!isKind(kind)) throw new SyntaxError(`the attribute kind is ${kind ?? 'missing'}, not command or event`)
  const delivery = readMap(wire.attributes.delivery)
  const dueAt = readInstant(delivery.dueAt)
  const { key } = delivery
  const failure = readFailure(delivery.failure)
  const target = route?.startsWith('@') ? route.slice(1) : undefined
  return {
    envelope: {
      messageId,
      kind,
      name,
      body: wire.body,
      correlationId: correlationId || messageId,
      attributes: readMap(wire.attributes.attributes) as Attributes,
      stickyAttributes: readMap(wire.attributes.stickyAttributes) as Attributes,
      headers: readMap(wire.attributes.headers) as Record<string, string>,
      sentAt: readInstant(delivery.sentAt) ?? 0,
      ...(typeof key === 'string' && { key }),
      ...(failure !== undefined && { failure }),
    },
    delivery: {
      attempt: readInstant(delivery.attempt) ?? 1,
      ...(dueAt !== undefined && { dueAt }),
      ...(target !== undefined && { target }),
    },
  }
}
