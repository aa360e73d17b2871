import middy from '@middy/core'
import type { SendOptions } from '../lib/core/options.js'
import { busFromEnvironment } from '../lib/lambda/environment.js'
import { injectBus } from '../lib/lambda/inject-bus.js'
import { CancelOrder, OrderPlaced, RemindPayment } from './messages.js'

/** An order, and when its customer is to be reminded and it is to be cancelled, as ISO texts. */
interface PlaceOrderEvent {
  readonly orderId: string
  /** @default in a day */
  readonly remindAt?: string
  /** When to remind, in any form that JSON can hold, instead of `remindAt`. */
  readonly remind?: SendOptions
  /** @default in three days */
  readonly cancelAt?: string
}

const DAY_MS = 86_400_000
const instant = (text: string | undefined, fallbackMs: number) => new Date(text ?? Date.now() + fallbackMs)

const bus = busFromEnvironment()

/** Places an order: tells of it now, and schedules what is to happen if nobody pays. All of it goes out, or nothing. */
export const handler = middy<PlaceOrderEvent>()
  .use(injectBus(bus))
  .handler(async ({ orderId, remindAt, remind, cancelAt }, ctx) => {
    await ctx.publish(OrderPlaced({ orderId }))
    const remindWhen = remind ?? { deliverAt: instant(remindAt, DAY_MS) }
    const reminder = await ctx.send(RemindPayment({ orderId }), remindWhen)
    const cancellation = await ctx.send(CancelOrder({ orderId }), { deliverAt: instant(cancelAt, 3 * DAY_MS) })
    return { orderId, reminder, cancellation }
  })
