import { createBus, type Message, type SendOptions, systemClock } from '../../lib/index.js'
import { connect, readSetup } from './connect.js'
import { tell } from './lines.js'
import { type Promised, Remind, TrialEnded } from './messages.js'

/** Schedules messages in every form, tells what it was promised, takes one back, and ends. */

const bus = createBus({ ...connect(readSetup()).options, sendOnly: true })
let number = 0

type Make = (promised: Promised) => Message

const schedule = async (form: string, options: SendOptions, make: Make = Remind, text?: string) => {
  number++
  const sentAt = systemClock.now()
  const message = make({ number, form, ...(text !== undefined && { text }) })
  const receipt = make === TrialEnded ? await bus.publish(message, options) : await bus.send(message, options)
  const askedAt = receipt.dueAt ?? sentAt
  tell({
    event: 'scheduled',
    number,
    form,
    messageId: receipt.messageId,
    status: receipt.status,
    askedAt,
    aheadMs: askedAt - sentAt,
  })
  return { number, receipt }
}

const inMs = (ms: number) => new Date(systemClock.now() + ms)

await schedule('at once', {})
await schedule('deliverAt an hour ago', { deliverAt: inMs(-3_600_000) })
await schedule('deliverAfter 500', { deliverAfter: 500 })
await schedule('deliverAfter 2 seconds', { deliverAfter: { seconds: 2 } })
await schedule('deliverAfter 3 s 250 ms', { deliverAfter: { seconds: 3, milliseconds: 250 } })
await schedule('deliverAt a Date', { deliverAt: inMs(4_000) })
await schedule('an event, published', { deliverAfter: 2_500 }, TrialEnded)
await schedule('10 KB, deliverAfter 3000', { deliverAfter: 3_000 }, Remind, 'x'.repeat(10_000))

const unwanted = await schedule('taken back in time', { deliverAfter: { seconds: 5 } })
const recall = await bus.recall(unwanted.receipt.recallHandle ?? '')
tell({ event: 'recalled', number: unwanted.number, messageId: recall.messageId, outcome: recall.outcome })

for (let step = 0; step < 40; step++) await schedule('one of 40, 75 ms apart', { deliverAt: inMs(2_500 + step * 75) })
const sameInstant = inMs(6_000)
await Promise.all(Array.from({ length: 25 }, () => schedule('one of 25, same instant', { deliverAt: sameInstant })))

await bus.stop()
tell({ event: 'done', process: 'sender' })
