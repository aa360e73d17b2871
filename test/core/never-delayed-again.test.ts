import { describe, expect, test } from 'vitest'
import type { HandlerContext } from '../../lib/core/context.js'
import type { Message } from '../../lib/core/message.js'
import { defineReceiver, handlerFor } from '../../lib/core/receiver.js'
import type { IncomingRecord } from '../../lib/core/transport.js'
import { toWire } from '../../lib/core/wire.js'
import { RemindPayment, setBus, setReceivingBus } from './bus-stage.js'
import { envelopeOf } from './dispatch/stage.js'

const YEAR_MS = 365 * 86_400_000

/** A record of a message that waited, and that says of itself, in every place that a sender can write, that it waits. */
const delayedRecord = (dueAt: number): IncomingRecord => {
  const wishes = { deliverAt: '2099-01-01T00:00Z', deliverAfter: YEAR_MS, delayLevel: 18, dueAt, spread: YEAR_MS }
  const body = JSON.stringify({ ...RemindPayment({ orderId: '42' }), ...wishes })
  const envelope = {
    ...envelopeOf('incoming', body),
    attributes: wishes,
    stickyAttributes: wishes,
    headers: { dueAt: `${dueAt}` },
  }
  return { recordId: 'r', ...toWire(envelope, { attempt: 1, dueAt }) }
}

const receiverOf = (handle: (message: Message, ctx: HandlerContext) => unknown) =>
  defineReceiver('billing', [handlerFor(RemindPayment, handle)])

describe('a message that waited once', () => {
  test('is handled at once, however far ahead the instant that it carries', async () => {
    const { bus, startAt } = setBus()
    const seen: Partial<HandlerContext>[] = []
    const record = delayedRecord(startAt + YEAR_MS)
    await bus.handleRecords(
      [record],
      receiverOf((_message, { dueAt, sentAt, latenessMs, attempt }) =>
        seen.push({ dueAt, sentAt, latenessMs, attempt }),
      ),
    )
    expect(seen).toEqual([{ dueAt: startAt + YEAR_MS, sentAt: 0, latenessMs: -YEAR_MS, attempt: 1 }])
  })

  test('replayed a year later, from a dead-letter queue or an archive, is handled at once and says how late it is', async () => {
    const { bus, clock, startAt } = setBus()
    const record = delayedRecord(startAt)
    await clock.advanceBy(YEAR_MS)
    const late: unknown[] = []
    await bus.handleRecords(
      [record],
      receiverOf((_message, ctx) => late.push(ctx.latenessMs)),
    )
    expect(late).toEqual([YEAR_MS])
  })

  test('goes on at once when its handler forwards it, with all that it carries', async () => {
    const { bus, sent, rowsLeft, startAt } = setBus()
    await bus.handleRecords(
      [delayedRecord(startAt + YEAR_MS)],
      receiverOf(async (message, ctx) => {
        const { attributes, stickyAttributes } = ctx
        await ctx.send({ ...message, $name: 'orders/forwarded' }, { attributes, stickyAttributes })
        await ctx.sendAll([{ message: { ...message, $name: 'orders/forwarded-too' } }])
      }),
    )
    expect(sent).toMatchObject([
      { at: startAt, dueAt: undefined },
      { at: startAt, dueAt: undefined },
    ])
    expect(await rowsLeft()).toEqual([])
  })

  test('reaches every subscriber once, an audit among them, at its instant and not twice the delay', async () => {
    const arrivals: [string, number][] = []
    const { bus, clock } = setReceivingBus((transport, { now }) => ({
      receivers: ['billing', 'audit'].map((name) => ({
        receiver: defineReceiver(name, [handlerFor(RemindPayment, () => arrivals.push([name, now()]))]),
        source: transport.source(name, ['orders/remind']),
      })),
    }))
    const startAt = clock.now()
    await bus.start()
    await bus.send(RemindPayment({ orderId: '42' }), { deliverAfter: 60_000 })
    await clock.advanceBy(300_000)
    await bus.stop()
    expect(arrivals.sort()).toEqual([
      ['audit', startAt + 60_000],
      ['billing', startAt + 60_000],
    ])
  })

  test('has no delay, deadline or spread on the wire, only the instant that it waited for', async () => {
    const wire = toWire({ ...envelopeOf('a'), discardAfterMs: 5 }, { attempt: 1, dueAt: 7 })
    expect(JSON.parse(wire.attributes.delivery ?? '')).toEqual({ sentAt: 0, dueAt: 7, attempt: 1 })
    expect(JSON.stringify(wire)).not.toMatch(/discard|spread|deliverAfter/)
  })
})
