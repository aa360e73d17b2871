import { describe, expect, test } from 'vitest'
import { createDispatcher } from '../../../lib/core/dispatch/dispatcher.js'
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
