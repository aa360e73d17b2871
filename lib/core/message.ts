/** What a user wrote: plain JSON with a name and a version. A command is sent, an event is published. */
export interface Message {
  /** Says what the message is, e.g. `orders/place`. Receivers subscribe to names. */
  readonly $name: string
  /** The version of the message's shape, an integer from 1. */
  readonly $version: number
}

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
}

/** The message type of a definition or a message class. */
export type MessageOf<D> =
  D extends MessageDefinition<infer T> ? Message & T : D extends new (...args: never[]) => infer M ? M : never

/** A class of messages: its instances have `$name` and `$version` (as in @node-ts/bus). */
export type MessageClass<M extends Message> = new (...args: never[]) => M

const define = <T extends object>(kind: MessageKind, name: string, version: number): MessageDefinition<T> =>
  Object.assign((payload: T): Message & T => ({ ...payload, $name: name, $version: version }), {
    $name: name,
    $version: version,
    $kind: kind,
  })

/**
 * Defines a command: a message that tells one receiver to do something.
 * @param version of the message's shape, an integer from 1. @default 1
 * @example
 * const PlaceOrder = defineCommand('orders/place', 1)<{ orderId: string }>()
 * await bus.send(PlaceOrder({ orderId: '42' }))
 */
export const defineCommand =
  (name: string, version = 1) =>
  <T extends object = Record<never, never>>(): MessageDefinition<T> =>
    define<T>('command', name, version)

/**
 * Defines an event: a message that tells whoever listens that something happened.
 * @param version of the message's shape, an integer from 1. @default 1
 * @example
 * const OrderPlaced = defineEvent('orders/placed', 1)<{ orderId: string }>()
 * await bus.publish(OrderPlaced({ orderId: '42' }))
 */
export const defineEvent =
  (name: string, version = 1) =>
  <T extends object = Record<never, never>>(): MessageDefinition<T> =>
    define<T>('event', name, version)
