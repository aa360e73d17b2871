import { describe, expect, test } from 'vitest'
import { watchTopic } from '../../../lib/core/dispatch/topic-health.js'
import type { PublishOutcome } from '../../../lib/core/transport.js'
import { type Answer, failAll, idsUpTo, type PublishRequest, publishAll, setStage } from './stage.js'

const TEN_MINUTES_MS = 600_000
/** Waits before the probes: 1, 2, 4, 8 and then 15 seconds. */
const PROBES = [1_000, 3_000, 7_000, 15_000]

/** A topic that takes nothing before an instant, and everything after. */
const downUntil = (at: number, now: () => number, published: 'no' | 'perhaps' = 'no'): Answer => {
  return (batch, nth) => (now() < at ? failAll('topic', published, 'KMSDisabled') : publishAll)(batch, nth)
}

const atInstants = (requests: readonly PublishRequest[], startAt: number) => requests.map(({ at }) => at - startAt)

describe('a topic that is down for ten minutes with 5,000 due', () => {
  test('loses nothing, kills nothing and repeats nothing; it is probed with one batch at 1, 2, 4, 8 and every 15 s', async () => {
    let now = () => 0
    const stage = setStage({ answer: (batch, nth) => downUntil(upAt, () => now())(batch, nth), shards: 4 })
    const { clock, startAt, put, run, requests, sent, events, eventsOf, rowsLeft, store } = stage
    const upAt = startAt + TEN_MINUTES_MS
    now = () => clock.now()
    await put(...idsUpTo(5_000).map((id, index) => [id, 0, { shard: index % 4 }] as const))
    const { stop } = run()
    await clock.advanceBy(TEN_MINUTES_MS - 1)
    // The first requests were under way together when the topic was found down.
    const first = requests.filter(({ at }) => at === startAt)
    expect(first.length).toBeLessThanOrEqual(8)
    const probes = atInstants(requests.slice(first.length), startAt)
    const every15s = Array.from({ length: 39 }, (_, index) => 30_000 + index * 15_000).filter(
      (at) => at < TEN_MINUTES_MS,
    )
    expect(probes).toEqual([...PROBES, ...every15s])
    expect(requests.slice(first.length).every(({ ids }) => ids.length === 10)).toBe(true)
    expect(sent).toEqual([])
    const { due } = await store.measureBacklog(clock.now())
    expect(due).toBe(5_000)
    await clock.advanceBy(60_000)
    await stop()
    expect(sent).toHaveLength(5_000)
    expect(new Set(sent.map(({ id }) => id)).size).toBe(5_000)
    expect(eventsOf('dead')).toEqual([])
    expect(await rowsLeft()).toEqual([])
    expect(eventsOf('topic-up')).toMatchObject([{ downMs: TEN_MINUTES_MS }])
    expect(eventsOf('topic-down').map(({ probe }) => probe)).toEqual(
      Array.from({ length: 1 + probes.length }, (_, index) => index + 1),
    )
    expect(events.filter(({ type }) => type === 'released').length).toBeGreaterThan(0)
    expect(clock.pendingTimers()).toBe(0)
  })

  test('delivers at once all that is due when it is up again, and what falls due later at its instant', async () => {
    let now = () => 0
    const stage = setStage({ answer: (batch, nth) => downUntil(stage.startAt + 10_000, () => now())(batch, nth) })
    const { clock, startAt, put, run, sent } = stage
    now = () => clock.now()
    await put(['a', 0], ['b', 5_000], ['c', 16_543])
    const { stop } = run()
    await clock.advanceBy(30_000)
    await stop()
    // Probed at 7 and 15 s: up at 10 s, found at 15 s.
    expect(sent.map(({ id, at }) => [id, at - startAt])).toEqual([
      ['a', 15_000],
      ['b', 15_000],
      ['c', 16_543],
    ])
  })
})

describe('a probe', () => {
  test('is one request, also when its rows do not fit one or one of them goes alone', async () => {
    const { clock, startAt, put, run, requests } = setStage({
      answer: failAll('topic'),
      limits: { maxBatchBytes: 1_000 },
    })
    await put(...idsUpTo(30).map((id) => [id, 0] as const))
    const { stop } = run()
    await clock.advanceBy(0)
    const before = requests.length
    await clock.advanceBy(15_000)
    await stop()
    expect(atInstants(requests.slice(before), startAt)).toEqual(PROBES)
  })

  test('that gets one message through brings the topic up, and the others that it holds follow', async () => {
    const answer: Answer = (batch, nth) => (nth === 1 ? failAll('topic') : publishAll)(batch, nth)
    const { clock, startAt, put, run, sent, requests } = setStage({ answer, limits: { maxBatchMessages: 3 } })
    await put(...idsUpTo(3).map((id) => [id, 0] as const))
    const { stop } = run()
    await clock.advanceBy(1_000)
    await stop()
    expect(sent.map(({ at }) => at - startAt)).toEqual([1_000, 1_000, 1_000])
    expect(requests).toHaveLength(2)
  })

  test('refused for its content shows that the topic is up', async () => {
    const refused: PublishOutcome = { outcome: 'failed', blames: 'message', published: 'no', reason: 'too strange' }
    const answer: Answer = (batch, nth) => (nth === 1 ? failAll('topic')(batch, nth) : batch.map(() => refused))
    const { clock, put, run, eventsOf } = setStage({ answer })
    await put(['bad', 0])
    const { stop } = run()
    await clock.advanceBy(2_000)
    await stop()
    expect(eventsOf('topic-up')).toMatchObject([{ downMs: 1_000 }])
  })

  test('of which every message fails for a passing reason has failed, and the next one waits its time', async () => {
    const answer: Answer = (batch, nth) => failAll(nth === 1 ? 'topic' : 'passing')(batch, nth)
    const { clock, startAt, put, run, requests } = setStage({ answer })
    await put(...idsUpTo(300).map((id) => [id, 0] as const))
    const { stop } = run()
    await clock.advanceBy(0)
    const before = requests.filter(({ at }) => at === startAt).length
    await clock.advanceBy(15_000)
    await stop()
    expect(atInstants(requests.slice(before), startAt)).toEqual(PROBES)
  })

  test('that began before the topic was found down proves nothing when it succeeds late', async () => {
    let upAgain = () => {}
    const slow = new Promise<void>((resolve) => {
      upAgain = resolve
    })
    const answer: Answer = async (batch, nth) => {
      if (nth !== 1) return failAll('topic')(batch, nth)
      await slow
      return publishAll(batch, nth)
    }
    const { clock, put, run, eventsOf, requests } = setStage({ answer, limits: { maxBatchMessages: 1 } })
    await put(['slow', 0], ['a', 0])
    const { stop } = run()
    await clock.advanceBy(500)
    upAgain()
    await clock.advanceBy(400)
    expect(eventsOf('topic-up')).toEqual([])
    expect(requests).toHaveLength(2)
    await stop()
  })
})

describe('a dispatcher whose topic is down', () => {
  test('leaves when nothing is due, and stays while something is', async () => {
    const { clock, startAt, put, run, store } = setStage({ answer: failAll('topic') })
    const [row] = await put(['a', 0])
    const { ended } = run({ leaveWhenIdleMs: 10_000 })
    await clock.advanceBy(60_000)
    expect(await Promise.race([ended, Promise.resolve('still there')])).toBe('still there')
    if (row !== undefined) await store.recallOutgoingMessage(row, clock.now())
    expect((await clock.runUntil(ended)) - startAt).toBeLessThanOrEqual(76_000)
    expect(clock.pendingTimers()).toBe(0)
  })

  test('holds nothing that is not due: it is left to be claimed by others', async () => {
    const { clock, startAt, put, run, store, looks } = setStage({ answer: failAll('topic') })
    await put(['a', 0], ['soon', 1_500])
    const { stop } = run()
    await clock.advanceBy(1_200)
    const [, probe] = looks
    expect(probe?.at).toBe(startAt + 1_000)
    expect(probe?.request).toMatchObject({ dueBefore: startAt + 1_000, limit: 10 })
    const now = clock.now()
    const { claims } = await store.claimDueOutgoingMessages({ now, dueBefore: startAt + 1_500, limit: 9, leaseMs: 1 })
    expect(claims.map(({ rowId }) => rowId)).toEqual(['a', 'soon'])
    await stop()
  })
})

test('a clock that is set back by an hour puts a probe off by 15 s at most', () => {
  let now = 1_900_000_000_000
  const health = watchTopic({ now: () => now, wakeAt: () => () => {} }, () => {})
  health.failed(health.generation(), 'throttled')
  now -= 3_600_000
  const probeAt = health.nextProbeAt()
  expect(probeAt).toBe(now + 15_000)
  now += 15_000
  expect(health.nextProbeAt()).toBe(now)
})
