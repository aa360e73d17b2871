import type { Bus } from '../core/bus.js'
import { systemClock } from '../core/clock.js'
import { defineCommand } from '../core/message.js'
import type { DispatchMode } from '../wiring/environment.js'
import { awaitMessage } from './await-message.js'
import { type Command, CommandError, type Terminal } from './command.js'
import { findDelivery } from './find-delivery.js'
import { openDelivery } from './open-delivery.js'
import { reachAws, reachOptions, stackOption } from './reach-aws.js'

/** No receiver takes it, so the delivery's own queue of unrouted messages does: nothing has to be deployed for this. */
const SmokeTest = defineCommand('postdate/smoke-test', 1)<{ sentAt: number }>()

const AHEAD_MS = 5_000
/** The next tick is at most two minutes away, and a function may start cold. */
const PATIENCE_SECONDS = 150
/** What is later than this did not come the way it should. */
const TOLERATED_MS: Readonly<Record<DispatchMode, number>> = { second: 5_000, minute: 125_000 }
/** The clocks of the dispatcher and of SQS may differ by as much. */
const CLOCKS_DIFFER_MS = 500

const precision: Readonly<Record<DispatchMode, string>> = {
  second: 'to the millisecond',
  minute: 'to the minute: this may take two',
}

const clock = systemClock
const timeOf = (at: number): string => new Date(at).toISOString().slice(11)

const readPatience = (text: string): number => {
  const seconds = Number(text)
  if (Number.isFinite(seconds) && seconds > 0) return seconds * 1_000
  throw new CommandError(`--patience is ${text}`, 'It is a number of seconds above 0.', 2)
}

/** Says what became of a message that did not come: its row tells the truth. */
const diagnose = async (bus: Bus, recallHandle: string): Promise<string> => {
  const { outcome } = await bus.recall(recallHandle)
  return outcome === 'recalled'
    ? 'It was still waiting, and is withdrawn: nothing dispatches. See docs/guides/alarms.md#dispatcher-silent.'
    : `It was dispatched (a recall answers ${outcome}), and SNS did not deliver it. The filter of a topic that was just deployed takes up to 15 minutes; else see docs/guides/alarms.md#unrouted-dead-letters.`
}

const judge = (latenessMs: number, mode: DispatchMode, { print, complain }: Terminal): number => {
  const isEarly = latenessMs < -CLOCKS_DIFFER_MS
  if (isEarly) complain(`TOO EARLY  by ${-latenessMs} ms`)
  else if (latenessMs > TOLERATED_MS[mode])
    complain(`LATE       A tick brought it, and not the waker: see docs/guides/alarms.md#hint-dead-letters.`)
  else print('ok         The delivery works.')
  return isEarly || latenessMs > TOLERATED_MS[mode] ? 1 : 0
}

const options = {
  ...reachOptions,
  patience: {
    placeholder: 'SECONDS',
    summary: `how long to wait after the message was due; ${PATIENCE_SECONDS} if not given`,
  },
} as const

/** `postdate smoke`: a message through the real table, dispatcher, topic and queue of a deployed stack. */
export const smoke: Command<'stack', keyof typeof options> = {
  about: [
    'Sends a message through the table, the dispatcher and the topic of a deployed stack, five seconds ahead, waits for it in',
    'the queue of unrouted messages, removes it there, and tells how late SQS got it. No receiver sees it. It needs the',
    'permissions of a sender, and to receive from that queue. Exits with 1 if it did not come, or not in time.',
  ].join('\n'),
  required: { stack: stackOption },
  optional: options,
  run: async (values, terminal) => {
    const { print, complain } = terminal
    const patienceMs = readPatience(values.patience ?? String(PATIENCE_SECONDS))
    const reach = reachAws(values)
    const delivery = await findDelivery(values, reach)
    const { busName, mode, unroutedQueueUrl: queueUrl } = delivery
    if (queueUrl === undefined)
      throw new CommandError(
        `the bus ${busName} has no queue of unrouted messages, where this test looks`,
        'Leave unrouted: false out of its DelayedDelivery.',
      )
    print(`found      the bus ${busName} in ${values.stack}, precise ${precision[mode]}`)
    const { bus, sqs, close } = openDelivery(delivery, reach)
    try {
      const sentAt = clock.now()
      const {
        messageId,
        dueAt = sentAt,
        recallHandle = '',
      } = await bus.send(SmokeTest({ sentAt }), {
        deliverAfter: AHEAD_MS,
      })
      print(`stored     ${messageId}, due at ${timeOf(dueAt)}, in ${Math.round((dueAt - clock.now()) / 100) / 10} s`)
      const onLook = () => print(`waiting    ${timeOf(clock.now())}`)
      const giveUpAt = dueAt + patienceMs
      const arrivedAt = await awaitMessage(sqs, { messageId, queueUrl, giveUpAt, clock, onLook })
      if (arrivedAt === undefined) {
        complain(`MISSING    ${await diagnose(bus, recallHandle)}`)
        return 1
      }
      const latenessMs = arrivedAt - dueAt
      print(`arrived    at ${timeOf(arrivedAt)}, lateness ${latenessMs} ms`)
      return judge(latenessMs, mode, terminal)
    } finally {
      close()
    }
  },
}
