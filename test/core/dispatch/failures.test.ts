import { describe, expect, test } from 'vitest'
import { createDispatcher } from '../../../lib/core/dispatch/dispatcher.js'
import { LEASE_MARGIN_MS } from '../../../lib/core/lease.js'
import { silentLogger } from '../../../lib/core/observation.js'
import type { PublishOutcome } from '../../../lib/core/transport.js'
import { type Answer, failAll, idsUpTo, publishAll, scriptTransport, setStage } from './stage.js'

const refused: PublishOutcome = { outcome: 'failed', blames: 'message', published: 'no', reason: 'too strange' }
const published: PublishOutcome = { outcome: 'published' }

/** Refuses the bad one and publishes the others. */
const refuseBad: Answer = (batch) => batch.map(({ envelope }) => (envelope.messageId === 'bad' ? refused : published))

describe('a message that the topic refuses', () => {
  test('is tried five times with growing waits, then dead with the reason', async () => {
    const { clock, startAt, put, run, requests, eventsOf, store } = setStage({ answer: refuseBad })
    await put(['bad', 0])
    const { stop } = run()
    await clock.advanceBy(3_600_000)
    await stop()
    const tries = [0, 5_000, 35_000, 155_000, 755_000]
    expect(requests.map(({ at }) => at - startAt)).toEqual(tries)
    expect(eventsOf('dead')).toEqual([{ type: 'dead', rowId: 'bad', reason: 'too strange', at: startAt + 755_000 }])
    const [dead] = await store.inspection.listDead(10)
    expect(dead).toMatchObject({ rowId: 'bad', reason: 'too strange', failures: 5, diedAt: startAt + 755_000 })
  })

  test('harms none of the nine beside it, which go at once and once', async () => {
    const { clock, startAt, put, run, sent, eventsOf } = setStage({ answer: refuseBad })
    const nine = idsUpTo(9)
    await put(
      ...nine.slice(0, 4).map((id) => [id, 0] as const),
      ['bad', 0],
      ...nine.slice(4).map((id) => [id, 0] as const),
    )
    const { stop } = run()
    await clock.advanceBy(0)
    expect(sent.map(({ id, at }) => [id, at - startAt])).toEqual(nine.map((id) => [id, 0]))
    await clock.advanceBy(3_600_000)
    await stop()
    expect(sent).toHaveLength(9)
    expect(eventsOf('dead').map(({ rowId }) => rowId)).toEqual(['bad'])
  })

  test('in a request refused whole is found by sending each alone, and only it dies', async () => {
    const answer: Answer = (batch, nth) => {
      if (!batch.some(({ envelope }) => envelope.messageId === 'bad')) return publishAll(batch, nth)
      return failAll(batch.length === 1 ? 'message' : 'request')(batch, nth)
    }
    const { clock, startAt, put, run, requests, sent, eventsOf } = setStage({ answer })
    await put(...idsUpTo(9).map((id) => [id, 0] as const), ['bad', 0])
    const { stop } = run()
    await clock.advanceBy(0)
    expect(requests.map(({ ids }) => ids.length)).toEqual([10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    expect(sent.map(({ at }) => at - startAt)).toEqual(Array.from({ length: 9 }, () => 0))
    await clock.advanceBy(3_600_000)
    await stop()
    expect(sent).toHaveLength(9)
    expect(eventsOf('dead').map(({ rowId }) => rowId)).toEqual(['bad'])
  })

  test('is dead at once when its row can not be read', async () => {
    const { clock, put, run, requests, eventsOf } = setStage({
      wrap: (store) => ({
        ...store,
        claimDueOutgoingMessages: async (request) => {
          const found = await store.claimDueOutgoingMessages(request)
          const claims = found.claims.map((claim) => ({ ...claim, envelope: 'the body is missing' }))
          return { ...found, claims }
        },
      }),
    })
    await put(['bad', 0])
    const { stop } = run()
    await clock.advanceBy(2_000)
    await stop()
    expect(requests).toEqual([])
    expect(eventsOf('dead').map(({ rowId, reason }) => [rowId, reason])).toEqual([['bad', 'the body is missing']])
  })
})

describe('a failure that passes', () => {
  test('is tried again after two seconds, counts for nothing, and never kills', async () => {
    const answer: Answer = (batch, nth) => (nth <= 20 ? failAll('passing', 'perhaps') : publishAll)(batch, nth)
    const { clock, startAt, put, run, requests, sent, eventsOf } = setStage({ answer })
    await put(['a', 0])
    const { stop } = run()
    await clock.advanceBy(120_000)
    await stop()
    expect(requests.map(({ at }) => at - startAt)).toEqual(Array.from({ length: 21 }, (_, index) => index * 2_000))
    expect(sent.map(({ id }) => id)).toEqual(['a'])
    expect(eventsOf('dead')).toEqual([])
    expect(eventsOf('topic-down')).toEqual([])
  })

  test('that may have gone out is given back as perhaps published, and a recall says so', async () => {
    const { clock, put, run, eventsOf, store } = setStage({ answer: failAll('passing', 'perhaps', 'socket hang up') })
    const [row] = await put(['a', 0])
    const { stop } = run()
    await clock.advanceBy(100)
    expect(eventsOf('released')).toMatchObject([{ rowId: 'a', published: 'perhaps', reason: 'socket hang up' }])
    expect(row && (await store.recallOutgoingMessage(row, clock.now()))).toBe('possibly-delivered')
    await stop()
  })

  test('is assumed when the transport throws or leaves outcomes out, and other messages are not touched', async () => {
    const answer: Answer = (batch, nth) => {
      if (nth === 1) throw new Error('a bug in the transport')
      if (nth === 2) return [published]
      return publishAll(batch, nth)
    }
    const { clock, put, run, sent, eventsOf } = setStage({ answer })
    await put(['a', 0], ['b', 0])
    const { stop } = run()
    await clock.advanceBy(10_000)
    await stop()
    expect(sent.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(eventsOf('released').map(({ rowId, published }) => [rowId, published])).toEqual([
      ['a', 'perhaps'],
      ['b', 'perhaps'],
      ['b', 'perhaps'],
    ])
  })
})

describe('a topic that never answers', () => {
  test('is given up after the time-out, and the messages are given back as perhaps published', async () => {
    const answer: Answer = (batch, nth) => (nth === 1 ? new Promise(() => {}) : publishAll(batch, nth))
    const { clock, startAt, put, run, sent, eventsOf, rowsLeft } = setStage({ answer })
    await put(['a', 0])
    const { stop } = run()
    await clock.advanceBy(60_000)
    await stop()
    expect(eventsOf('released')).toMatchObject([{ rowId: 'a', published: 'perhaps', at: startAt + 6_000 }])
    expect(sent.map(({ id, at }) => [id, at - startAt])).toEqual([['a', 7_000]])
    expect(await rowsLeft()).toEqual([])
    expect(clock.pendingTimers()).toBe(0)
  })
})

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
      ['a', 30_000 + LEASE_MARGIN_MS],
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

describe('an observer that throws', () => {
  test('harms nothing that it watches: all is published and settled, and the error is logged', async () => {
    const { clock, startAt, put, store, rowsLeft } = setStage()
    const { transport, sent } = scriptTransport(clock, refuseBad)
    const errors: string[] = []
    const dispatcher = createDispatcher({
      persistence: store,
      transport,
      clock,
      logger: { ...silentLogger, error: (message) => void errors.push(message) },
      observe: () => {
        throw new Error('a bug in the metrics')
      },
    })
    await put(['a', 0], ['bad', 0], ['b', 500])
    const stopping = new AbortController()
    const ended = dispatcher.run({ signal: stopping.signal })
    await clock.advanceBy(1_000)
    stopping.abort()
    await clock.runUntil(ended)
    expect(sent.map(({ id, at }) => [id, at - startAt])).toEqual([
      ['a', 0],
      ['b', 500],
    ])
    expect((await rowsLeft()).map(({ rowId }) => rowId)).toEqual(['bad'])
    expect(errors.length).toBeGreaterThan(0)
  })
})
