/**
 * What must compile and what must not, at every call site of a send. Nothing here runs: `npm run check:types` compiles it, and
 * an expected error that does not come is an error.
 */
import type { Bus, MessageContext, SendOptions } from '../../lib/index.js'
import { defineCommand, defineEvent } from '../../lib/index.js'

declare const bus: Bus
declare const ctx: MessageContext
declare const temporalDuration: {
  readonly years: number
  readonly months: number
  readonly weeks: number
  readonly days: number
  readonly hours: number
  readonly minutes: number
  readonly seconds: number
  readonly milliseconds: number
  readonly microseconds: number
  readonly nanoseconds: number
  readonly sign: number
}
declare const temporalInstant: { readonly epochMilliseconds: number; readonly epochNanoseconds: bigint }
declare const temporalZoned: typeof temporalInstant & { readonly timeZoneId: string; readonly hour: number }
declare const day: Date

const Remind = defineCommand('orders/remind', 1)<{ orderId: string }>()
const command = Remind({ orderId: '42' })
const event = defineEvent('orders/placed')<{ orderId: string }>()({ orderId: '42' })

const atBusSend = [
  () => bus.send(command),
  () => bus.send(command, {}),
  () => bus.send(command, { deliverAfter: 5 }),
  () => bus.send(command, { deliverAfter: { days: 1, hours: 2, minutes: 3, seconds: 4, milliseconds: 5 } }),
  () => bus.send(command, { deliverAfter: temporalDuration }),
  () => bus.send(command, { deliverAt: day }),
  () => bus.send(command, { deliverAt: { epochMilliseconds: 5 } }),
  () => bus.send(command, { deliverAt: temporalInstant }),
  () => bus.send(command, { deliverAt: temporalZoned }),
  () => bus.send(command, { deliverAt: { local: '2026-11-12T08:00', timeZone: 'Australia/Melbourne' } }),
  () =>
    bus.send(command, {
      deliverAt: { local: '2026-11-12T08:00', timeZone: 'UTC', ifMissing: 'reject', ifAmbiguous: 'second' },
    }),
  () => bus.send(command, { delayLevel: 3 }),
  () => bus.send(command, { deliverAfter: 5, discardAfter: { hours: 1 }, spread: 60_000 }),
  () => bus.send(command, { deliverAfter: 5, messageId: 'own', correlationId: 'c', attributes: { a: 0, b: null } }),
  // @ts-expect-error two forms
  () => bus.send(command, { deliverAfter: 5, deliverAt: day }),
  // @ts-expect-error two forms
  () => bus.send(command, { deliverAfter: 5, delayLevel: 1 }),
  // @ts-expect-error two forms
  () => bus.send(command, { deliverAt: day, delayLevel: 1 }),
  // @ts-expect-error a misspelt option
  () => bus.send(command, { deliverafter: 5 }),
  // @ts-expect-error text as a duration
  () => bus.send(command, { deliverAfter: '5 minutes' }),
  // @ts-expect-error null, which would mean now
  () => bus.send(command, { deliverAfter: null }),
  // @ts-expect-error a bigint
  () => bus.send(command, { deliverAfter: 5n }),
  // @ts-expect-error a Date as a duration
  () => bus.send(command, { deliverAfter: day }),
  // @ts-expect-error weeks
  () => bus.send(command, { deliverAfter: { weeks: 1 } }),
  // @ts-expect-error a singular
  () => bus.send(command, { deliverAfter: { day: 1 } }),
  // @ts-expect-error a part that is text
  () => bus.send(command, { deliverAfter: { days: '1' } }),
  // @ts-expect-error a bare number as an instant
  () => bus.send(command, { deliverAt: 1_800_000_000_000 }),
  // @ts-expect-error text as an instant
  () => bus.send(command, { deliverAt: '2026-11-12T08:00Z' }),
  // @ts-expect-error null, which would mean now
  () => bus.send(command, { deliverAt: null }),
  // @ts-expect-error a local time without its zone
  () => bus.send(command, { deliverAt: { local: '2026-11-12T08:00' } }),
  // @ts-expect-error two kinds of instant
  () => bus.send(command, { deliverAt: { epochMilliseconds: 5, local: '2026-11-12T08:00', timeZone: 'UTC' } }),
  // @ts-expect-error a choice that is none
  () => bus.send(command, { deliverAt: { local: '2026-11-12T08:00', timeZone: 'UTC', ifMissing: 'skip' } }),
  // @ts-expect-error seconds
  () => bus.send(command, { deliverAt: { epochSeconds: 5 } }),
  // @ts-expect-error a level as text
  () => bus.send(command, { delayLevel: '3' }),
  // @ts-expect-error a discardAfter that is text
  () => bus.send(command, { deliverAfter: 5, discardAfter: '1h' }),
  // @ts-expect-error a spread that is a Date
  () => bus.send(command, { deliverAfter: 5, spread: day }),
  // @ts-expect-error headers belong to middleware
  () => bus.send(command, { headers: { traceparent: '00-1' } }),
  // @ts-expect-error an attribute that is an object
  () => bus.send(command, { attributes: { a: {} } }),
  // @ts-expect-error no message
  () => bus.send({ orderId: '42' }, { deliverAfter: 5 }),
]

const atBusPublish = [
  () => bus.publish(event, { deliverAfter: { minutes: 5 } }),
  () => bus.publish(event, { deliverAt: temporalInstant, spread: { minutes: 5 } }),
  () => bus.publish(event, { delayLevel: 1 }),
  // @ts-expect-error two forms
  () => bus.publish(event, { deliverAfter: 5, deliverAt: day }),
  // @ts-expect-error two forms
  () => bus.publish(event, { deliverAt: day, delayLevel: 1 }),
  // @ts-expect-error a bare number as an instant
  () => bus.publish(event, { deliverAt: 5 }),
  // @ts-expect-error text as a duration
  () => bus.publish(event, { deliverAfter: '5' }),
  // @ts-expect-error a misspelt option
  () => bus.publish(event, { delay: 5 }),
]

const atContextSend = [
  () => ctx.send(command, { deliverAfter: { minutes: 5 } }),
  () => ctx.send(command, { deliverAt: { local: '2026-11-12T08:00', timeZone: 'Australia/Melbourne' } }),
  () => ctx.send(command, { delayLevel: 1, discardAfter: 5 }),
  // @ts-expect-error two forms
  () => ctx.send(command, { deliverAfter: 5, deliverAt: day }),
  // @ts-expect-error two forms
  () => ctx.send(command, { deliverAfter: 5, delayLevel: 1 }),
  // @ts-expect-error a bare number as an instant
  () => ctx.send(command, { deliverAt: 5 }),
  // @ts-expect-error weeks
  () => ctx.send(command, { deliverAfter: { weeks: 1 } }),
  // @ts-expect-error a misspelt option
  () => ctx.send(command, { delaySeconds: 5 }),
]

const atContextPublish = [
  () => ctx.publish(event, { deliverAfter: { minutes: 5 } }),
  () => ctx.publish(event, { deliverAt: day }),
  () => ctx.publish(event, { delayLevel: 1 }),
  // @ts-expect-error two forms
  () => ctx.publish(event, { deliverAfter: 5, deliverAt: day }),
  // @ts-expect-error two forms
  () => ctx.publish(event, { deliverAt: day, delayLevel: 1 }),
  // @ts-expect-error text as an instant
  () => ctx.publish(event, { deliverAt: 'tomorrow' }),
  // @ts-expect-error a misspelt option
  () => ctx.publish(event, { deliver_after: 5 }),
]

const atPlurals = [
  () =>
    bus.sendAll([{ message: command }, { message: command, deliverAfter: 5 }, { message: command, deliverAt: day }]),
  () => bus.publishAll([{ message: event, delayLevel: 1, attributes: { a: 1 } }]),
  () => ctx.sendAll([{ message: command, deliverAfter: { days: 1 } }]),
  () => ctx.publishAll([{ message: event, deliverAt: { epochMilliseconds: 5 } }]),
  // @ts-expect-error two forms
  () => bus.sendAll([{ message: command, deliverAfter: 5, deliverAt: day }]),
  // @ts-expect-error two forms
  () => bus.publishAll([{ message: event, deliverAfter: 5, delayLevel: 1 }]),
  // @ts-expect-error two forms
  () => ctx.sendAll([{ message: command, deliverAt: day, delayLevel: 1 }]),
  // @ts-expect-error a message without its entry
  () => ctx.publishAll([event]),
  // @ts-expect-error a misspelt option
  () => bus.sendAll([{ message: command, deliverIn: 5 }]),
]

const definitions = [
  () => defineCommand('a', 1, { deliverAfter: { days: 3 } }),
  () => defineEvent('a', 1, { deliverAfter: temporalDuration }),
  // @ts-expect-error an instant is no default
  () => defineCommand('a', 1, { deliverAt: day }),
  // @ts-expect-error text
  () => defineEvent('a', 1, { deliverAfter: '3 days' }),
]

/** Options that were put together before keep to one form as well. */
const options = [
  (): SendOptions => ({ deliverAfter: 5, correlationId: 'c' }),
  (late: boolean): SendOptions => (late ? { deliverAt: day } : { delayLevel: 1 }),
  // @ts-expect-error two forms
  (): SendOptions => ({ deliverAfter: 5, deliverAt: day }),
]

/** All of it, by call site. */
export const callSites = {
  'bus.send': atBusSend,
  'bus.publish': atBusPublish,
  'ctx.send': atContextSend,
  'ctx.publish': atContextPublish,
  'sendAll and publishAll': atPlurals,
  definitions,
  options,
}
