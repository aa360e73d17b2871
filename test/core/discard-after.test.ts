import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RemindPayment, setBus } from './bus-stage.js'
import { failAll, publishAll } from './dispatch/stage.js'

const remind = RemindPayment({ orderId: '42' })

/** Sends a message due in a second, lets no dispatcher look until so long after that, then runs one. */
const dispatchLate = async (discardAfter: number | undefined, lateMs: number) => {
  const stage = setBus()
  const { bus, clock } = stage
  await bus.send(remind, { deliverAfter: 1_000, ...(discardAfter !== undefined && { discardAfter }) })
  await clock.advanceBy(1_000 + lateMs)
  await bus.start()
  await clock.advanceBy(60_000)
  await bus.stop()
  return { ...stage, dead: await stage.store.inspection.listDead(10) }
}

describe('a message with discardAfter', () => {
  test.each([
    ['at its due instant', 0],
    ['one ms before the end', 59_999],
    ['at the end', 60_000],
  ])('dispatched %s is delivered', async (_when, lateMs) => {
    const { sent, dead } = await dispatchLate(60_000, lateMs)
    expect(sent).toHaveLength(1)
    expect(dead).toEqual([])
  })

  test.each([
    ['a ms', 60_001],
    ['a year', 365 * 86_400_000],
  ])('dispatched %s after the end is dead with the reason expired, and never published', async (_when, lateMs) => {
    const { sent, dead, events, startAt, rowsLeft } = await dispatchLate(60_000, lateMs)
    expect(sent).toEqual([])
    expect(dead).toMatchObject([
      { reason: 'expired', failures: 0, diedAt: startAt + 1_000 + lateMs, envelope: { discardAfterMs: 60_000 } },
    ])
    expect(events).toContainEqual({ type: 'dead', rowId: dead[0]?.rowId, reason: 'expired' })
    expect(await rowsLeft()).toEqual([])
  })

  test('and without one is delivered however late', async () => {
    const { sent, dead } = await dispatchLate(undefined, 365 * 86_400_000)
    expect(sent).toHaveLength(1)
    expect(dead).toEqual([])
  })

  test('is published or dead for any lateness, decided to the millisecond', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 10_000 }), fc.nat(20_000), async (discardAfter, lateMs) => {
        const { sent, dead } = await dispatchLate(discardAfter, lateMs)
        expect([sent.length, dead.length]).toEqual(lateMs <= discardAfter ? [1, 0] : [0, 1])
      }),
      { numRuns: 60 },
    )
  })

  test('expires while its topic is down, and those that last longer are delivered when it is up', async () => {
    let isDown = true
    const { bus, clock, store, sent, startAt } = setBus({
      answer: (batch, nth) => (isDown ? failAll('topic') : publishAll)(batch, nth),
    })
    await bus.sendAll([
      { message: remind, messageId: 'short', deliverAfter: 1_000, discardAfter: { minutes: 5 } },
      { message: remind, messageId: 'long', deliverAfter: 1_000, discardAfter: { hours: 1 } },
      { message: remind, messageId: 'for-ever', deliverAfter: 1_000 },
    ])
    await bus.start()
    await clock.advanceBy(600_000)
    isDown = false
    await clock.advanceBy(60_000)
    await bus.stop()
    expect(sent.map(({ id }) => id).sort()).toEqual(['for-ever', 'long'])
    const dead = await store.inspection.listDead(10)
    expect(dead).toMatchObject([{ rowId: 'short', reason: 'expired' }])
    expect(dead[0]?.diedAt).toBeGreaterThan(startAt + 301_000)
  })

  test('was perhaps published when it expires after an unsure try: its recall says so', async () => {
    const { bus, clock, store } = setBus({ answer: failAll('passing', 'perhaps') })
    const { recallHandle = '' } = await bus.send(remind, { deliverAfter: 1_000, discardAfter: 3_000 })
    await bus.start()
    await clock.advanceBy(60_000)
    await bus.stop()
    expect(await store.inspection.listDead(10)).toMatchObject([{ reason: 'expired' }])
    expect((await bus.recall(recallHandle)).outcome).toBe('possibly-delivered')
  })

  test('keeps its neighbours in a batch from nothing', async () => {
    const { bus, clock, sent, store } = setBus()
    const entries = Array.from({ length: 20 }, (_, index) => ({
      message: remind,
      messageId: `m-${String(index).padStart(2, '0')}`,
      deliverAfter: 1_000,
      ...(index % 2 === 0 && { discardAfter: 500 }),
    }))
    await bus.sendAll(entries)
    await clock.advanceBy(5_000)
    await bus.start()
    await clock.advanceBy(60_000)
    await bus.stop()
    expect(sent.map(({ id }) => Number(id.slice(2)) % 2)).toEqual(new Array(10).fill(1))
    expect(await store.inspection.listDead(20)).toHaveLength(10)
  })
})
