import type { HandlerContext } from './context.js'
import { PostdateError } from './errors.js'
import type { Message, MessageClass, MessageDefinition } from './message.js'
import { checkName } from './settings.js'

/** What runs for one kind of message. Resolving acknowledges it, after its sends are durable; throwing has it delivered again. */
export interface Handler {
  /** The `$name` of the messages it handles; also its own name in ids. */
  readonly messageName: string
  /** Runs it. */
  readonly handle: (message: Message, context: HandlerContext) => unknown
}

/** A named set of handlers behind one queue. */
export interface Receiver {
  /** Stable: part of the ids of what its handlers send, and of redelivery routes. */
  readonly name: string
  readonly handlers: ReadonlyMap<string, Handler>
}

const nameOf = (definition: { readonly $name?: unknown; readonly name?: string } | MessageClass<Message>): string => {
  if ('$name' in definition && typeof definition.$name === 'string') return definition.$name
  const { $name } = new (definition as MessageClass<Message>)()
  if (typeof $name === 'string') return $name
  throw new PostdateError('message.invalid', { rule: '$name must be text', value: String($name) })
}

/**
 * Binds a handler to a message definition, or to a message class (whose constructor is called once, without arguments, to
 * read its `$name`, unless it has a static one).
 * @example
 * handlerFor(PlaceOrder, async (order, ctx) => { await ctx.send(RemindPayment({ orderId: order.orderId }), { deliverAfter: { days: 3 } }) })
 */
export const handlerFor = <M extends Message>(
  definition: (Omit<MessageDefinition<never>, never> & ((payload: never) => M)) | MessageClass<M>,
  handle: (message: M, context: HandlerContext) => unknown,
): Handler => ({
  messageName: nameOf(definition),
  handle: (message, context) => handle(message as M, context),
})

/**
 * Names a set of handlers.
 * @throws PostdateError `receiver.duplicate-handler`, `options.invalid`
 */
export const defineReceiver = (name: string, handlers: readonly Handler[]): Receiver => {
  checkName('receiver name', name)
  const byName = new Map<string, Handler>()
  for (const handler of handlers) {
    if (byName.has(handler.messageName)) {
      throw new PostdateError('receiver.duplicate-handler', { name: handler.messageName, receiver: name })
    }
    byName.set(handler.messageName, handler)
  }
  return { name, handlers: byName }
}
