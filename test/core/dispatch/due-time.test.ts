import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { setStage } from './stage.js'

describe('a dispatcher', () => {
  test('publishes at the exact millisecond of the due instant, though it claims a second ahead', async () => {
    const { clock, startAt, put, run, sent, looks } = setStage()
    await put(['a', 1_234], ['b', 1_235], ['c', 7_777], ['now', 0])
    const { stop } = run()
    await clock.advanceBy(10_000)
    await stop()
    expect(sent.map(({ id, at, dueAt }) => [id, at - startAt, (dueAt ?? 0) - startAt])).toEqual([
      ['now', 0, 0],
      ['a', 1_234, 1_234],
      ['b', 1_235, 1_235],
      ['c', 7_777, 7_777],
    ])
    const lookAheads = looks.map(({ at, request }) => request.dueBefore - at)
    expect(new Set(lookAheads)).toEqual(new Set([1_000]))
  })

  test('publishes every row at its due instant, or at once when it was overdue at the start', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: -5_000, max: 20_000 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 50, max: 3_000 }),
        fc.integer({ min: 200, max: 5_000 }),
        async (dueInMs, lookAheadMs, pollMs) => {
          const { clock, startAt, put, run, sent } = setStage({ dispatch: { lookAheadMs, pollMs } })
          await put(...dueInMs.map((ms, index) => [`m${index}`, ms] as const))
          const { stop } = run()
          await clock.advanceBy(21_000)
          await stop()
          const went = sent.map(({ id, at }) => [id, at - startAt]).sort()
          expect(went).toEqual(dueInMs.map((ms, index) => [`m${index}`, Math.max(0, ms)]).sort())
          expect(clock.pendingTimers()).toBe(0)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('publishes what is overdue oldest first', async () => {
    const { clock, put, run, sent } = setStage({ dispatch: { maxPublishing: 1 } })
    await put(['young', -1], ['old', -86_400_000], ['middle', -60_000])
    const { stop } = run()
    await clock.advanceBy(0)
    await stop()
    expect(sent.map(({ id }) => id)).toEqual(['old', 'middle', 'young'])
  })

  test('finds within a poll what another process has stored', async () => {
    const { clock, startAt, put, run, sent } = setStage()
    const { stop } = run()
    await clock.advanceBy(3_500)
    await put(['late', 3_600], ['soon', 5_500])
    await clock.advanceBy(5_000)
    await stop()
    expect(sent.map(({ id, at }) => [id, at - startAt])).toEqual([
      ['late', 4_000],
      ['soon', 5_500],
    ])
  })

  test('publishes at its instant what it was told to expect, between two polls', async () => {
    const { clock, startAt, put, run, sent, dispatcher } = setStage({ dispatch: { pollMs: 60_000 } })
    const { stop } = run()
    await clock.advanceBy(10_000)
    await put(['expected', 12_345])
    dispatcher.expect(startAt + 12_345)
    await clock.advanceBy(10_000)
    await stop()
    expect(sent.map(({ id, at }) => [id, at - startAt])).toEqual([['expected', 12_345]])
  })

  test('publishes at its instant what it was told to expect while it was looking', async () => {
    let tell = () => {}
    const { clock, startAt, put, run, sent, dispatcher } = setStage({
      dispatch: { pollMs: 60_000 },
      wrap: (store) => ({
        ...store,
        claimDueOutgoingMessages: async (request) => {
          const found = await store.claimDueOutgoingMessages(request)
          tell()
          return found
        },
      }),
    })
    tell = () => {
      tell = () => {}
      void put(['expected', 5_000])
      dispatcher.expect(startAt + 5_000)
    }
    const { stop } = run()
    await clock.advanceBy(20_000)
    await stop()
    expect(sent.map(({ id, at }) => [id, at - startAt])).toEqual([['expected', 5_000]])
  })

  test('publishes a redelivery to its one receiver, with its attempt', async () => {
    const seen: unknown[] = []
    const { clock, put, run } = setStage({
      answer: (batch) => {
        seen.push(...batch.map(({ delivery }) => delivery))
        return batch.map(() => ({ outcome: 'published' }))
      },
    })
    const [row] = await put(['m~billing~3', 500, { target: 'billing', attempt: 3 }])
    const { stop } = run()
    await clock.advanceBy(1_000)
    await stop()
    expect(seen).toEqual([{ dueAt: row?.dueAt, target: 'billing', attempt: 3 }])
  })

  test('looks at the shards it was told to, and no others', async () => {
    const { clock, put, run, sent } = setStage({ shards: 3 })
    await put(['in 0', 0], ['in 1', 0, { shard: 1 }], ['in 2', 0, { shard: 2 }])
    const { stop } = run({ shards: [1, 2] })
    await clock.advanceBy(2_000)
    await stop()
    expect(sent.map(({ id }) => id).sort()).toEqual(['in 1', 'in 2'])
  })
})
