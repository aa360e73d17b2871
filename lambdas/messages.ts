import { defineCommand, defineEvent } from '../lib/core/message.js'

/** An order was placed. */
export const OrderPlaced = defineEvent('shop/order-placed', 1)<{ orderId: string }>()

/** Remind the customer to pay. */
export const RemindPayment = defineCommand('shop/remind-payment', 1)<{ orderId: string }>()

/** Cancel an order that was not paid in time. */
export const CancelOrder = defineCommand('shop/cancel-order', 1)<{ orderId: string }>()
