import type { HandlerContext } from './context.js'
import { describeValue } from './describe-value.js'
import { PostdateError } from './errors.js'
import { HOW_DEFINED, type Message, type MessageClass, type MessageDefinition } from './message.js'
import type { Inbox } from './redelivery/inbox.js'
import type { IncomingMiddleware } from './redelivery/incoming-middleware.js'
import {
  longestDelay,
  type RedeliveryOptions,
  type RedeliveryPolicy,
  settleRedelivery,
} from './redelivery/redelivery-policy.js'
import { checkName } from './settings.js'

/**
 * What runs for one kind of message. Resolving acknowledges it, after its sends are durable, unless it resolves with
 * `reject(reason)` or `requeue({ after })`; throwing has it delivered again.
 */
export interface Handler {
  /** The `$name` of the messages it handles; also its own name in ids. */
  readonly messageName: string
  /** The newest `$version` that it knows: messages of newer ones wait. @default any */
  readonly version?: number
  /** Runs it. */
  readonly handle: (message: Message, context: HandlerContext) => unknown
}

/** A named set of handlers behind one queue. */
export interface Receiver {
  /** Stable: part of the ids of what its handlers send, and of redelivery routes. */
  readonly name: string
  readonly handlers: ReadonlyMap<string, Handler>
  /** @default that of `RedeliveryOptions` */
  readonly redelivery?: RedeliveryPolicy
  /** Runs around every handler. @default none */
  readonly incoming?: readonly IncomingMiddleware[]
  /** Remembers what was handled. @default none */
  readonly inbox?: Inbox
}

/** How a receiver works. */
export interface ReceiverOptions {
  /** What becomes of messages whose handlers throw. @default on: 10 s after the first failure, dead after the fifth */
  readonly redelivery?: RedeliveryOptions
  /** Runs around every handler, the first one outermost. @default none */
  readonly incoming?: readonly IncomingMiddleware[]
  /** Has each message handled once at this receiver, also when its queue hands it out twice. @default none */
  readonly inbox?: Inbox
}

type Named = { readonly $name?: unknown; readonly $version?: unknown } | MessageClass<Message>

const checkNamed = (definition: unknown): void => {
  const hasFields = (typeof definition === 'object' && definition !== null) || typeof definition === 'function'
  // An arrow function has no prototype, and can't be called as a constructor.
  const mayTell = hasFields && ('$name' in definition || Reflect.get(definition, 'prototype') !== undefined)
  if (mayTell && ('$name' in definition || typeof definition === 'function')) return
  const rule = `what handlerFor handles must be a definition or a message class (${HOW_DEFINED})`
  throw new PostdateError('message.invalid', { rule, value: describeValue(definition) })
}

const checkHandle = (messageName: string, handle: unknown): void => {
  if (typeof handle === 'function') return
  const rule = `it must be a function that handles ${messageName}`
  throw new PostdateError('options.invalid', { option: 'handle', value: describeValue(handle), rule })
}

const checkHandlers = (handlers: unknown): void => {
  const refuse = (option: string, value: unknown, rule: string) =>
    new PostdateError('options.invalid', { option, value: describeValue(value), rule })
  if (!Array.isArray(handlers)) throw refuse('handlers', handlers, 'it must be a list of what handlerFor made')
  for (const [index, handler] of handlers.entries()) {
    const isHandler = typeof handler?.messageName === 'string' && typeof handler.handle === 'function'
    if (!isHandler) throw refuse(`handlers[${index}]`, handler, 'it must be what handlerFor made')
  }
}

/** Definitions have both; a class may have them static, else an instance tells. */
const identify = (definition: Named): { readonly messageName: string; readonly version?: number } => {
  checkNamed(definition)
  const known = '$name' in definition ? definition : new (definition as MessageClass<Message>)()
  const { $name, $version } = known as { readonly $name?: unknown; readonly $version?: unknown }
  if (typeof $name !== 'string')
    throw new PostdateError('message.invalid', { rule: '$name must be text', value: String($name) })
  return { messageName: $name, ...(typeof $version === 'number' && { version: $version }) }
}

/**
 * Binds a handler to a message definition, or to a message class (whose constructor is called once, without arguments, to
 * read its `$name`, unless it has a static one).
 * @throws PostdateError `message.invalid` when it is neither, `options.invalid` when the handler is no function
 * @example
 * handlerFor(PlaceOrder, async (order, ctx) => { await ctx.send(RemindPayment({ orderId: order.orderId }), { deliverAfter: { days: 3 } }) })
 */
export const handlerFor = <M extends Message>(
  definition: (Omit<MessageDefinition<never>, never> & ((payload: never) => M)) | MessageClass<M>,
  handle: (message: M, context: HandlerContext) => unknown,
): Handler => {
  const identity = identify(definition)
  checkHandle(identity.messageName, handle)
  return { ...identity, handle: (message, context) => handle(message as M, context) }
}

const checkRetention = (policy: RedeliveryPolicy, inbox: Inbox | undefined): void => {
  const longestMs = longestDelay(policy)
  if (inbox === undefined || inbox.retentionMs > longestMs) return
  const rule = `it must exceed the longest wait of the redelivery, ${longestMs} ms`
  throw new PostdateError('options.invalid', { option: 'inbox.retention', value: `${inbox.retentionMs} ms`, rule })
}

/**
 * Names a set of handlers.
 * @throws PostdateError `receiver.duplicate-handler`, `options.invalid`, `options.unknown`
 */
export const defineReceiver = (name: string, handlers: readonly Handler[], options: ReceiverOptions = {}): Receiver => {
  const { incoming, inbox } = options
  checkName('receiver name', name)
  checkHandlers(handlers)
  const byName = new Map<string, Handler>()
  for (const handler of handlers) {
    if (byName.has(handler.messageName)) {
      throw new PostdateError('receiver.duplicate-handler', { name: handler.messageName, receiver: name })
    }
    byName.set(handler.messageName, handler)
  }
  const redelivery = settleRedelivery(options.redelivery)
  checkRetention(redelivery, inbox)
  return {
    name,
    handlers: byName,
    redelivery,
    ...(incoming !== undefined && { incoming }),
    ...(inbox !== undefined && { inbox }),
  }
}
