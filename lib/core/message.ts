import { checkKnown } from './check-known.js'
import { PostdateError } from './errors.js'
import { type Duration, durationMs } from './schedule/duration.js'

/** What a user wrote: plain JSON with a name and a version. A command is sent, an event is published. */
export interface Message {
  /** Says what the message is, e.g. `orders/place`. Receivers subscribe to names. */
  readonly $name: string
  /** The version of the message's shape, an integer from 1. */
  readonly $version: number
}

/** How a definition is made and used: for errors about a function where a message or a definition is wanted. */
export const HOW_DEFINED =
  'define it by const PlaceOrder = defineCommand(name, version)(), which has a second call, and make messages by PlaceOrder({ … })'

/** Whether one receiver is told to do something, or anyone is told that something happened. */
export type MessageKind = 'command' | 'event'

/** A value of an attribute. Falsy values travel as they are. */
export type AttributeValue = string | number | boolean | null

/** Attributes of a message, by name. */
export type Attributes = Readonly<Record<string, AttributeValue>>

/** What travels with a message besides its content (as in @node-ts/bus). */
export interface MessageAttributes {
  /** Binds the messages of one conversation together. @default the message's id, or in a handler that of the handled message */
  readonly correlationId: string
  /** Travel with this message only. */
  readonly attributes: Attributes
  /** Travel with this message and with every message sent while it is handled. */
  readonly stickyAttributes: Attributes
}

/** Makes messages of one name, and tells the name without making one. */
export interface MessageDefinition<T extends object> {
  (payload: T): Message & T
  readonly $name: string
  readonly $version: number
  readonly $kind: MessageKind
  /** How long its messages are delayed when their sender does not say when, in milliseconds. @default at once */
  readonly $deliverAfterMs?: number
}

/** What a definition says of its messages, for senders that don't. */
export interface MessageDefaults {
  /** Delays every message of the definition whose sender gives no schedule form. `{ deliverAfter: 0 }` is then at once. @default at once */
  readonly deliverAfter?: Duration
}

/**
 * Where a message that a definition made carries its default delay: a symbol, so that a copy by `{ ...message }` keeps it,
 * while JSON, and so whoever receives the message and forwards it, does not.
 */
export const DEFAULT_DELAY: unique symbol = Symbol.for('postdate.default-delay')

/** The default delay of a message, in milliseconds, if the definition that made it has one. */
export const defaultDelayOf = (message: unknown): number | undefined => {
  const delayMs: unknown =
    typeof message === 'object' && message !== null ? Reflect.get(message, DEFAULT_DELAY) : undefined
  return typeof delayMs === 'number' ? delayMs : undefined
}

/** The message type of a definition or a message class. */
export type MessageOf<D> =
  D extends MessageDefinition<infer T> ? Message & T : D extends new (...args: never[]) => infer M ? M : never

/** A class of messages: its instances have `$name` and `$version` (as in @node-ts/bus). */
export type MessageClass<M extends Message> = new (...args: never[]) => M

const readDefaults = (name: string, defaults: MessageDefaults): number | undefined => {
  checkKnown(defaults, ['deliverAfter'])
  if (!('deliverAfter' in defaults)) return undefined
  const form = `the default deliverAfter of ${name}`
  const { deliverAfter } = defaults
  if (deliverAfter !== undefined && deliverAfter !== null) return durationMs(form, deliverAfter)
  throw new PostdateError('schedule.missing-value', { form, value: String(deliverAfter) })
}

const define = <T extends object>(
  kind: MessageKind,
  name: string,
  version: number,
  defaults: MessageDefaults,
): MessageDefinition<T> => {
  const $deliverAfterMs = readDefaults(name, defaults)
  const make = (payload: T): Message & T => {
    const message = { ...payload, $name: name, $version: version }
    // The payload may be a message of another definition.
    Reflect.deleteProperty(message, DEFAULT_DELAY)
    return $deliverAfterMs === undefined ? message : { ...message, [DEFAULT_DELAY]: $deliverAfterMs }
  }
  const about = { $name: name, $version: version, $kind: kind }
  return Object.assign(make, about, $deliverAfterMs === undefined ? {} : { $deliverAfterMs })
}

/**
 * Defines a command: a message that tells one receiver to do something.
 * @param version of the message's shape, an integer from 1. @default 1
 * @param defaults for senders that don't say. @default none
 * @throws PostdateError `schedule.invalid-duration`, `schedule.missing-value`, `options.unknown`
 * @example
 * const PlaceOrder = defineCommand('orders/place', 1)<{ orderId: string }>()
 * await bus.send(PlaceOrder({ orderId: '42' }))
 * const EndTrial = defineCommand('trials/end', 1, { deliverAfter: { days: 30 } })<{ user: string }>()
 * await bus.send(EndTrial({ user: 'u1' })) // in thirty days
 */
export const defineCommand =
  (name: string, version = 1, defaults: MessageDefaults = {}) =>
  <T extends object = Record<never, never>>(): MessageDefinition<T> =>
    define<T>('command', name, version, defaults)

/**
 * Defines an event: a message that tells whoever listens that something happened.
 * @param version of the message's shape, an integer from 1. @default 1
 * @param defaults for senders that don't say. @default none
 * @throws PostdateError `schedule.invalid-duration`, `schedule.missing-value`, `options.unknown`
 * @example
 * const OrderPlaced = defineEvent('orders/placed', 1)<{ orderId: string }>()
 * await bus.publish(OrderPlaced({ orderId: '42' }))
 */
export const defineEvent =
  (name: string, version = 1, defaults: MessageDefaults = {}) =>
  <T extends object = Record<never, never>>(): MessageDefinition<T> =>
    define<T>('event', name, version, defaults)
