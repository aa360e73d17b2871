import type { HandlerContext } from '../lib/core/context.js'
import type { Message } from '../lib/core/message.js'
import { handlerFor } from '../lib/core/receiver.js'
import { createReceiver } from '../lib/lambda/create-receiver.js'
import { busFromEnvironment } from '../lib/lambda/environment.js'
import { CancelOrder, OrderPlaced, RemindPayment } from './messages.js'

const bus = busFromEnvironment()

/** One line of JSON for each message, as what watches the log wants it. */
const log = ({ $name, orderId }: Message & { readonly orderId: string }, ctx: HandlerContext): void => {
  const { messageId, correlationId, dueAt, latenessMs, attempt } = ctx
  console.log(JSON.stringify({ received: $name, orderId, messageId, correlationId, dueAt, latenessMs, attempt }))
}

/** Handles what the orders function sent, at once or days later. */
export const handler = createReceiver(
  bus,
  [handlerFor(OrderPlaced, log), handlerFor(RemindPayment, log), handlerFor(CancelOrder, log)],
  { name: 'billing' },
)
