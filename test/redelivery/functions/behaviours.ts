import { existsSync, writeFileSync } from 'node:fs'
import type { Bus } from '../../../lib/core/bus.js'
import type { HandlerContext } from '../../../lib/core/context.js'
import type { BusEvent } from '../../../lib/core/observation.js'
import { handlerFor } from '../../../lib/core/receiver.js'
import { requeue } from '../../../lib/core/redelivery/handler-result.js'
import { createReceiver, type SqsBatchHandler } from '../../../lib/lambda/create-receiver.js'
import { busFromEnvironment } from '../../../lib/lambda/environment.js'
import { powertoolsInbox } from '../../../lib/lambda/powertools-inbox.js'
import { Charged, commandOf, eventOf } from './messages.js'

/** What the function's environment tells of a test's wishes. */
const { RECEIVER: receiver = '', MARKER: marker = '', INBOX: inbox, POSTDATE_TABLE_NAME: tableName = '' } = process.env

const tell = (what: string, ctx: HandlerContext, more: object = {}): void =>
  console.log(
    JSON.stringify({
      what,
      receiver,
      messageId: ctx.messageId,
      attempt: ctx.attempt,
      dueAt: ctx.dueAt,
      at: Date.now(),
      ...more,
    }),
  )

/** Kills this process as a crash would, the first time that it is asked to. */
const dieOnce = (): void => {
  if (existsSync(marker)) return
  writeFileSync(marker, String(process.pid))
  process.kill(process.pid, 'SIGKILL')
}

const once = inbox === 'true' ? { inbox: powertoolsInbox({ tableName }) } : {}
const options = { name: receiver, ...once }

const alwaysFailing = (bus: Bus): SqsBatchHandler =>
  createReceiver(
    bus,
    [
      handlerFor(commandOf(receiver), (_, ctx) => {
        tell('ran', ctx)
        throw new Error(`failure ${ctx.attempt}`)
      }),
    ],
    { ...options, redelivery: { delays: [{ seconds: 1 }, { seconds: 2 }, { seconds: 3 }] } },
  )

/** An error that is far too large, of a message that is as large as may be. */
const failingHugely = (bus: Bus): SqsBatchHandler =>
  createReceiver(
    bus,
    [
      handlerFor(commandOf(receiver), (_, ctx) => {
        tell('ran', ctx)
        throw Object.assign(new Error('m'.repeat(2_000)), { stack: 'at ü.ts\n'.repeat(7_000) })
      }),
    ],
    { ...options, redelivery: { delays: [100, 100] } },
  )

const requeueing = (bus: Bus): SqsBatchHandler =>
  createReceiver(
    bus,
    [
      handlerFor(commandOf(receiver), (_, ctx) => {
        tell('ran', ctx)
        return requeue({ after: { seconds: 54_524 } })
      }),
    ],
    options,
  )

/** Fails at the first attempt; dies when the copy is stored, before the record is acknowledged. */
const dyingAfterCopy = (bus: Bus): SqsBatchHandler =>
  createReceiver(
    bus,
    [
      handlerFor(commandOf(receiver), async (_, ctx) => {
        tell('ran', ctx)
        await ctx.publish(Charged({ receiver }))
        if (ctx.attempt === 1) throw new Error('failure 1')
        tell('succeeded', ctx)
      }),
    ],
    { ...options, redelivery: { delay: 2_000 } },
  )

/** Dies when its handler has sent, and nothing of that is out yet. */
const dyingBeforeFlush = (bus: Bus): SqsBatchHandler =>
  createReceiver(
    bus,
    [
      handlerFor(commandOf(receiver), async (_, ctx) => {
        tell('ran', ctx)
        await ctx.publish(Charged({ receiver }))
        dieOnce()
        tell('succeeded', ctx)
      }),
    ],
    options,
  )

/** Takes what the others publish. */
const auditing = (bus: Bus): SqsBatchHandler =>
  createReceiver(bus, [handlerFor(Charged, (message, ctx) => tell('audited', ctx, { of: message.receiver }))], options)

/** Knows one version of its message only. */
const outdated = (bus: Bus): SqsBatchHandler =>
  createReceiver(bus, [handlerFor(eventOf(receiver), (_, ctx) => tell('ran', ctx))], options)

const behaviours: Readonly<Record<string, (bus: Bus) => SqsBatchHandler>> = {
  alwaysFailing,
  failingHugely,
  requeueing,
  dyingAfterCopy,
  dyingBeforeFlush,
  auditing,
  outdated,
}

const onEvent = (event: BusEvent): void => {
  if (event.type === 'redelivery-stored' && process.env.BEHAVIOUR === 'dyingAfterCopy') dieOnce()
}

const behave = behaviours[process.env.BEHAVIOUR ?? '']
if (behave === undefined) throw new Error(`no behaviour ${process.env.BEHAVIOUR}`)

/** The receiver that the environment asks for. */
export const handler = behave(busFromEnvironment({ onEvent }))
