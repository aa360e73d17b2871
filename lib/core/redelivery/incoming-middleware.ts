import type { HandlerContext } from '../context.js'
import { PostdateError } from '../errors.js'
import type { Message } from '../message.js'
import { ack, type HandlerResult, isHandlerResult } from './handler-result.js'

/** A message on its way to its handler, as incoming middleware sees it. */
export interface IncomingMessage {
  readonly message: Message
  readonly context: HandlerContext
  /** The name of the receiver. */
  readonly receiver: string
}

/**
 * Runs around the handler, once for each message and attempt. `next()` runs the rest and resolves with its result; what it
 * throws is the handler's failure. A middleware that returns a result (`ack()`, `reject()`, `requeue()`) decides; another
 * return value leaves the handler's result as it is. One that neither awaits `next()` nor returns a result fails the message.
 * @example
 * const timed: IncomingMiddleware = async ({ message }, next) => { console.time(message.$name); await next(); console.timeEnd(message.$name) }
 */
export type IncomingMiddleware = (incoming: IncomingMessage, next: () => Promise<HandlerResult>) => unknown

/**
 * Runs a handler inside its middleware, the first one outermost.
 * @throws whatever they throw, and PostdateError `receiver.middleware-without-result`
 */
export const runIncoming = async (
  middleware: readonly IncomingMiddleware[],
  incoming: IncomingMessage,
  handle: () => unknown,
): Promise<HandlerResult> => {
  const [outermost, ...rest] = middleware
  if (outermost === undefined) {
    const returned = await handle()
    return isHandlerResult(returned) ? returned : ack()
  }
  const refuse = (rule: string) =>
    new PostdateError('receiver.middleware-without-result', {
      middleware: outermost.name || 'an incoming middleware',
      receiver: incoming.receiver,
      rule,
    })
  let isCalled = false
  let inner: HandlerResult | undefined
  const next = async (): Promise<HandlerResult> => {
    if (isCalled) throw refuse('it called next() twice')
    isCalled = true
    inner = await runIncoming(rest, incoming, handle)
    return inner
  }
  const returned = await outermost(incoming, next)
  if (isHandlerResult(returned)) return returned
  if (inner === undefined) throw refuse('it neither awaited next() nor returned a result')
  return inner
}
