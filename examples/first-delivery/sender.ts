import { createBus, type Message, type Receipt, sleepUntil, systemClock } from '../../lib/index.js'
import { connect, readSetup } from './connect.js'
import { after, type Form, forms } from './forms.js'
import { tell } from './lines.js'
import { EndTrial, type Promised, Remind, TRIAL_MS, TrialEnded } from './messages.js'

/** Schedules messages in every form, tells what it asked for and was promised, takes one back, and ends. */

const bus = createBus({ ...connect(readSetup()).options, sendOnly: true })
let number = 0

const report = (
  promised: Promised,
  { messageId, status, dueAt }: Receipt,
  sentAt: number,
  askedAt: number,
  together = 1,
) =>
  tell({
    event: 'scheduled',
    ...{ number: promised.number, form: promised.form, messageId, status, askedAt },
    isAtOnce: dueAt === undefined,
    dueAt: dueAt ?? sentAt,
    aheadMs: askedAt - sentAt,
    ...(together > 1 && { together }),
  })

type Make = (promised: Promised) => Message

/** Sends one message; what it asks for is worked out at the same instant as what is passed. */
const schedule = async ({ form, options, asks }: Form, { make = Remind as Make, text = '' } = {}) => {
  const promised = { number: ++number, form, ...(text !== '' && { text }) }
  const sentAt = systemClock.now()
  const message = make(promised)
  const send = make === TrialEnded ? bus.publish : bus.send
  const receipt = await send(message, options(sentAt))
  report(promised, receipt, sentAt, asks(sentAt))
  return { number: promised.number, receipt }
}

const takeBack = async (what: { readonly number: number; readonly receipt: Receipt }) => {
  const { messageId, outcome } = await bus.recall(what.receipt.recallHandle ?? '')
  tell({ event: 'recalled', number: what.number, messageId, outcome })
}

for (const form of forms) await schedule(form)
const unstoppable = await schedule(after('taken back too late', 1_000, { deliverAfter: { seconds: 1 } }))
await schedule(after('the default of its definition', TRIAL_MS, {}), { make: EndTrial })
await schedule(after('an event, published', 2_500, { deliverAfter: 2_500 }), { make: TrialEnded })
await schedule(after('10 KB, deliverAfter: 3000', 3_000, { deliverAfter: 3_000 }), { text: 'x'.repeat(10_000) })

const unwanted = await schedule(after('taken back in time', 5_000, { deliverAfter: { seconds: 5 } }))
await takeBack(unwanted)

/** Sends many messages in one call, each for an instant of its own. */
const scheduleAll = async (form: string, askedAts: readonly number[]) => {
  const sentAt = systemClock.now()
  const all = askedAts.map((askedAt) => ({ askedAt, promised: { number: ++number, form } }))
  const outcomes = await bus.sendAll(
    all.map(({ askedAt, promised }) => ({ message: Remind(promised), deliverAt: new Date(askedAt) })),
  )
  for (const [index, { askedAt, promised }] of all.entries()) {
    const outcome = outcomes[index]
    if (outcome === undefined || outcome.status === 'failed') throw outcome?.error ?? new Error('no outcome')
    report(promised, outcome, sentAt, askedAt, askedAts.length)
  }
}

const now = systemClock.now()
await scheduleAll(
  'one of 40 in one sendAll, 75 ms apart',
  Array.from({ length: 40 }, (_, step) => now + 2_500 + step * 75),
)
await scheduleAll('one of 25 in one sendAll, same instant', new Array<number>(25).fill(now + 6_000))

/** By then it was claimed; a recall that comes first would be as right, and answer `recalled`. */
const CLAIMED_WITHIN_MS = 1_500
await sleepUntil(systemClock, (unstoppable.receipt.dueAt ?? now) + CLAIMED_WITHIN_MS)
await takeBack(unstoppable)

await bus.stop()
tell({ event: 'done', process: 'sender' })
