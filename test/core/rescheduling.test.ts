import { describe, expect, test } from 'vitest'
import { formatHandle, parseHandle } from '../../lib/core/handle.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { RemindPayment, refusalOf, setBus, setReceivingBus } from './bus-stage.js'

const HOUR_MS = 3_600_000

const schedule = async (stage: ReturnType<typeof setBus>, deliverAfter = HOUR_MS) => {
  const receipt = await stage.bus.send(RemindPayment({ orderId: '1' }), { deliverAfter })
  return { ...receipt, recallHandle: receipt.recallHandle ?? '', dueAt: receipt.dueAt ?? 0 }
}

describe('a message that is moved to another time', () => {
  test('tells its new instant and a new handle, and both handles take it back', async () => {
    const stage = setBus()
    for (const which of ['old', 'new'] as const) {
      const { messageId, recallHandle } = await schedule(stage)
      const moved = await stage.bus.reschedule(recallHandle, { deliverAfter: { days: 7 } })
      const dueAt = stage.clock.now() + 7 * 24 * HOUR_MS
      expect(moved).toEqual({ outcome: 'rescheduled', messageId, dueAt, recallHandle: expect.any(String) })
      const handle = which === 'old' ? recallHandle : (moved.recallHandle ?? '')
      expect((await stage.bus.recall(handle)).outcome).toBe('recalled')
    }
    expect(await stage.rowsLeft()).toEqual([])
  })

  test('is moved by every schedule form, on the grid of the bus', async () => {
    const stage = setBus({ resolutionMs: 1_000 })
    const { recallHandle } = await schedule(stage)
    const now = stage.clock.now()
    const dueAtOf = async (when: Parameters<typeof stage.bus.reschedule>[1]) =>
      (await stage.bus.reschedule(recallHandle, when)).dueAt - now
    expect(await dueAtOf({ deliverAfter: 5_001 })).toBe(6_000)
    expect(await dueAtOf({ deliverAt: new Date(now + 7_000) })).toBe(7_000)
    expect(await dueAtOf({ delayLevel: 5 })).toBe(60_000)
  })

  test('to a time that has passed is due now, or refused where the bus refuses such times', async () => {
    const stage = setBus()
    const { recallHandle } = await schedule(stage)
    const past = { deliverAt: new Date(stage.clock.now() - 1) }
    expect((await stage.bus.reschedule(recallHandle, past)).dueAt).toBe(stage.clock.now())
    const strict = setBus({ pastDue: 'reject', share: stage })
    expect(await refusalOf(strict.bus.reschedule(recallHandle, past))).toMatchObject({ code: 'schedule.in-the-past' })
  })

  test.each([
    [undefined, 'options.invalid'],
    [{}, 'options.invalid'],
    [{ deliverAfter: 1, deliverAt: new Date() }, 'schedule.two-forms'],
    [{ deliverAfter: undefined }, 'schedule.missing-value'],
    [{ deliverAfter: -1 }, 'schedule.invalid-duration'],
    [{ deliverAfter: { days: 40_000 } }, 'schedule.beyond-horizon'],
    [{ deliverIn: 5 }, 'options.unknown'],
    [{ discardAfter: 5 }, 'options.unknown'],
  ])('to %j is refused with %s, and stays as it is', async (when, code) => {
    const stage = setBus()
    const { recallHandle, dueAt } = await schedule(stage)
    expect(await refusalOf(stage.bus.reschedule(recallHandle, when as { deliverAfter: number }))).toMatchObject({
      code,
    })
    expect((await stage.rowsLeft()).map((row) => row.dueAt)).toEqual([dueAt])
  })

  test('is told of, and the wake hint goes for its new instant', async () => {
    const hints: unknown[] = []
    const stage = setBus({ wakeHint: async (hint) => void hints.push(hint) })
    const { recallHandle, messageId } = await schedule(stage)
    const { dueAt } = await stage.bus.deliverNow(recallHandle)
    expect(stage.events.at(-1)).toEqual({ type: 'rescheduled', messageId, outcome: 'rescheduled', dueAt })
    expect(hints).toEqual([{ shard: 0, dueAt, now: dueAt }])
    await stage.bus.recall(recallHandle)
    expect(await stage.bus.reschedule(recallHandle, { deliverAfter: 1 })).toEqual({
      outcome: 'recalled',
      messageId,
      dueAt: parseHandle(recallHandle).dueAt,
    })
    expect(stage.events.at(-1)).toEqual({ type: 'rescheduled', messageId, outcome: 'recalled' })
  })

  test('is delivered once, at its new time, by a started bus that slept until the old one', async () => {
    const received: number[] = []
    const { bus, clock } = setReceivingBus((transport, time) => ({
      receivers: [
        {
          receiver: { name: 'billing', handlers: [] } as never,
          source: {
            name: 'probe',
            start: () => {
              const source = transport.source('billing', [RemindPayment.$name])
              return source.start(async (records) => {
                received.push(...records.map(() => time.now()))
                return []
              })
            },
          },
        },
      ],
    }))
    await bus.start()
    const { recallHandle = '' } = await bus.send(RemindPayment({ orderId: '1' }), { deliverAfter: HOUR_MS })
    await clock.advanceBy(10_000)
    const { dueAt } = await bus.deliverNow(recallHandle)
    await clock.advanceBy(2 * HOUR_MS)
    expect(received).toHaveLength(1)
    expect(received[0]).toBeGreaterThanOrEqual(dueAt)
    expect(received[0]).toBeLessThan(dueAt + 100)
    expect((await bus.reschedule(recallHandle, { deliverAfter: 5 })).outcome).toBe('too-late')
    await bus.stop()
  })
})

describe('what is not moved', () => {
  test('a message that was never stored: not-found, or too-late close to its instant', async () => {
    const { bus, clock } = setBus()
    const handleDueIn = (ms: number) => formatHandle({ bus: 'orders', shard: 0, dueAt: clock.now() + ms, rowId: 'x' })
    const outcomeOf = async (ms: number) => (await bus.reschedule(handleDueIn(ms), { deliverAfter: 1 })).outcome
    expect([await outcomeOf(6_000), await outcomeOf(1_000)]).toEqual(['not-found', 'too-late'])
  })

  test('one of another bus, of a garbled handle, of a copy for redelivery', async () => {
    const { bus } = setBus()
    const handle = (content: object) => formatHandle({ bus: 'orders', shard: 0, dueAt: 1, rowId: 'x', ...content })
    for (const [given, code] of [
      [handle({ bus: 'invoices' }), 'recall.other-bus'],
      [`${handle({})}A`, 'recall.malformed-handle'],
      [handle({ rowId: 'x~billing~2' }), 'recall.malformed-handle'],
    ] as const) {
      expect(await refusalOf(bus.reschedule(given, { deliverAfter: 1 }))).toMatchObject({ code })
      expect(await refusalOf(bus.deliverNow(given))).toMatchObject({ code })
      expect(await refusalOf(bus.recall(given))).toMatchObject({ code })
    }
  })

  test('one on a persistence that can’t move, and one whose store does not answer', async () => {
    const { rescheduleOutgoingMessage: _, ...fixed } = memoryPersistence()
    const failing = { ...memoryPersistence(), rescheduleOutgoingMessage: () => Promise.reject(new Error('gone')) }
    const handle = formatHandle({ bus: 'orders', shard: 0, dueAt: 1, rowId: 'x' })
    const refusal = (persistence: typeof fixed) => refusalOf(setBus({ persistence }).bus.deliverNow(handle))
    expect(await refusal(fixed)).toMatchObject({ code: 'persistence.reschedule-not-supported' })
    expect(await refusal(failing)).toMatchObject({ code: 'persistence.unavailable', retryable: true })
  })
})
