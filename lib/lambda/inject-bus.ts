import type { Bus } from '../core/bus.js'
import type { MessageContext, OpenContext } from '../core/context.js'
import { type InvocationContext, isInLambda } from './invocation.js'

/** A request, as middy hands it to its middlewares. */
export interface BusRequest {
  /** Gets `send`, `publish` and `recall`. */
  readonly context: InvocationContext & MessageContext
}

/** A middleware for middy 5, 6 and 7. Middy itself is not loaded. */
export interface BusMiddleware {
  readonly before: (request: BusRequest) => void
  readonly after: (request: BusRequest) => Promise<void>
  readonly onError: (request: BusRequest) => void
}

/**
 * A middy middleware that gives a handler's context `send`, `publish` and `recall`. What the handler sends is buffered: it
 * goes out, durably, when the handler has resolved, and is dropped when the handler or another middleware throws.
 *
 * Register it first: middy runs what comes after the handler in reverse order, so the flush then is the last step, and
 * nothing can fail after it. Inside Lambda a delayed send on a persistence that isn't durable throws
 * `persistence.not-durable`.
 * @example
 * export const handler = middy<OrderEvent>()
 *   .use(injectBus(bus))
 *   .handler(async (event, ctx) => {
 *     await ctx.send(RemindPayment({ orderId: event.orderId }), { deliverAfter: { days: 3 } })
 *   })
 */
export const injectBus = (bus: Bus): BusMiddleware => {
  // By request and not by context: tests like to use one context for several calls.
  const opened = new WeakMap<BusRequest, OpenContext>()
  return {
    before: (request) => {
      const origin = isInLambda(process.env) ? { requireDurable: true } : {}
      const open = bus.openContext(origin)
      opened.set(request, open)
      Object.assign(request.context, open.context)
    },
    after: async (request) => {
      await opened.get(request)?.flush()
    },
    onError: (request) => {
      opened.get(request)?.discard()
    },
  }
}
