import { describe, expect, test } from 'vitest'
import { publishAll, setStage } from './stage.js'

describe('a lease', () => {
  test('that is about to end is given back instead of published over its end', async () => {
    let delayMs = 20_000
    const { clock, startAt, put, run, requests, eventsOf, sent } = setStage({
      wrap: (store, time) => ({
        ...store,
        claimDueOutgoingMessages: async (request) => {
          const found = await store.claimDueOutgoingMessages(request)
          const at = time.now() + delayMs - 1
          if (found.claims.length > 0) await new Promise<void>((resolve) => void time.wakeAt(at, resolve))
          return found
        },
      }),
      answer: async (batch, nth) => {
        // The first takes so long that the lease of what waits for its end is nearly over.
        if (nth === 1) await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + 1_000, resolve))
        return publishAll(batch, nth)
      },
      dispatch: { maxPublishing: 1, publishTimeoutMs: 5_000, leaseMs: 30_000 },
      limits: { maxBatchMessages: 1 },
    })
    await put(['first', 0], ['second', 0])
    const { stop } = run()
    await clock.advanceBy(21_500)
    expect(requests.map(({ ids, at }) => [ids, at - startAt])).toEqual([[['first'], 19_999]])
    expect(eventsOf('released')).toMatchObject([{ rowId: 'second', published: 'no', at: startAt + 20_999 }])
    delayMs = 0
    await clock.advanceBy(60_000)
    await stop()
    expect(sent.map(({ id }) => id)).toEqual(['first', 'second'])
  })

  test('claimed by a call that took too long is given back, and the next pass works', async () => {
    let calls = 0
    const { clock, put, run, sent, eventsOf, startAt } = setStage({
      wrap: (store, time) => ({
        ...store,
        claimDueOutgoingMessages: async (request) => {
          const found = await store.claimDueOutgoingMessages(request)
          if (++calls === 1) await new Promise<void>((resolve) => void time.wakeAt(time.now() + 22_222, resolve))
          return found
        },
      }),
    })
    await put(['a', 0])
    const { stop } = run()
    await clock.advanceBy(22_221)
    expect(eventsOf('pass-failed')).toMatchObject([{ reason: 'no answer within 20000 ms', at: startAt + 20_000 }])
    await clock.advanceBy(5_000)
    await stop()
    expect(eventsOf('released')).toMatchObject([{ rowId: 'a', published: 'no', at: startAt + 22_222 }])
    expect(sent.map(({ id }) => id)).toEqual(['a'])
    expect(clock.pendingTimers()).toBe(0)
  })
})

describe('a row whose claims ended five times without settle or release', () => {
  test('is published alone, since it may be what ends them', async () => {
    const { clock, startAt, put, run, requests, store } = setStage()
    await put(['suspect', -3_600_000])
    for (let claims = 1; claims <= 5; claims++) {
      const now = startAt - 3_600_000 + claims * 60_000
      await store.claimDueOutgoingMessages({ now, dueBefore: now, limit: 1, leaseMs: 30_000 })
    }
    await put(['a', -2], ['b', -1])
    const { stop } = run()
    await clock.advanceBy(0)
    await stop()
    expect(requests.map(({ ids }) => ids)).toEqual([['suspect'], ['a', 'b']])
  })

  test('is published with others while it was four times', async () => {
    const { clock, startAt, put, run, requests, store } = setStage()
    await put(['suspect', -3_600_000])
    for (let claims = 1; claims <= 4; claims++) {
      const now = startAt - 3_600_000 + claims * 60_000
      await store.claimDueOutgoingMessages({ now, dueBefore: now, limit: 1, leaseMs: 30_000 })
    }
    await put(['a', -2])
    const { stop } = run()
    await clock.advanceBy(0)
    await stop()
    expect(requests.map(({ ids }) => ids)).toEqual([['suspect', 'a']])
  })
})

describe('a look that throws', () => {
  test('is followed by one that works', async () => {
    let calls = 0
    const { clock, startAt, put, run, sent, eventsOf } = setStage({
      wrap: (store) => ({
        ...store,
        claimDueOutgoingMessages: async (request) => {
          if (++calls <= 3) throw new TypeError('broken')
          return store.claimDueOutgoingMessages(request)
        },
      }),
    })
    await put(['a', 500])
    const { stop } = run()
    await clock.advanceBy(5_000)
    await stop()
    expect(eventsOf('pass-failed').map(({ code, reason }) => [code, reason])).toEqual(
      Array.from({ length: 3 }, () => ['persistence.unavailable', 'TypeError: broken']),
    )
    expect(sent.map(({ at }) => at - startAt)).toEqual([3_000])
  })
})

describe('a settle', () => {
  const failing = (times: number) => {
    let calls = 0
    return setStage({
      wrap: (store) => ({
        ...store,
        deleteOutgoingMessages: async (claims) => {
          if (++calls > times) return store.deleteOutgoingMessages(claims)
          throw new Error('throttled')
        },
      }),
    })
  }

  test('that fails is tried again until it works, and the message goes out once', async () => {
    const { clock, put, run, sent, eventsOf, rowsLeft } = failing(7)
    await put(['a', 0])
    const { stop } = run()
    await clock.advanceBy(100_000)
    await stop()
    expect(sent).toHaveLength(1)
    expect(eventsOf('settled').map(({ rowId }) => rowId)).toEqual(['a'])
    expect(eventsOf('settle-lost')).toEqual([])
    expect(await rowsLeft()).toEqual([])
  })

  test('that fails while the lease lasts is given up and said, and the message is repeated with its id, alone to blame', async () => {
    const { clock, startAt, put, run, sent, eventsOf, rowsLeft } = failing(150)
    await put(['a', 0])
    const { stop } = run()
    await clock.advanceBy(120_000)
    await stop()
    expect(eventsOf('settle-lost')[0]).toMatchObject({ rowId: 'a', why: 'failed' })
    expect(eventsOf('settle-lost')[0]?.at).toBeLessThan(startAt + 30_000)
    expect(sent.map(({ id, at }) => [id, at - startAt])).toEqual([
      ['a', 0],
      ['a', (eventsOf('settle-lost')[0]?.againAt ?? 0) - startAt],
    ])
    expect(eventsOf('settled')).toHaveLength(1)
    expect(await rowsLeft()).toEqual([])
  })

  test('does not hold up the looks at the store', async () => {
    const { clock, startAt, put, run, sent } = failing(1_000)
    await put(['a', 0], ['b', 3_456])
    const { stop } = run({ leaveWhenIdleMs: 130_000 })
    await clock.advanceBy(1_500)
    await put(['c', 1_501])
    await clock.advanceBy(5_000)
    expect(sent.map(({ id, at }) => [id, at - startAt])).toEqual([
      ['a', 0],
      ['c', 2_000],
      ['b', 3_456],
    ])
    await stop()
  })

  test('that is never answered blocks neither later ones nor the end', async () => {
    let calls = 0
    const { clock, put, run, sent, eventsOf, rowsLeft } = setStage({
      wrap: (store) => ({
        ...store,
        deleteOutgoingMessages: (claims) =>
          ++calls <= 2 ? new Promise(() => {}) : store.deleteOutgoingMessages(claims),
      }),
    })
    await put(['a', 0], ['b', 1_000], ['c', 2_000])
    const { stop } = run()
    await clock.advanceBy(30_000)
    await stop()
    expect(sent.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    expect(
      eventsOf('settled')
        .map(({ rowId }) => rowId)
        .sort(),
    ).toEqual(['a', 'b', 'c'])
    expect(await rowsLeft()).toEqual([])
    expect(clock.pendingTimers()).toBe(0)
  })

  test('of a row that another holds by now is lost, and said', async () => {
    const { clock, put, run, eventsOf } = setStage({
      wrap: (store) => ({
        ...store,
        deleteOutgoingMessages: async (claims) => claims.map(() => ({ outcome: 'lease-lost' })),
      }),
    })
    await put(['a', 0])
    const { stop } = run()
    await clock.advanceBy(1_000)
    await stop()
    expect(eventsOf('settle-lost')).toMatchObject([{ rowId: 'a', why: 'lease-lost' }])
  })
})
