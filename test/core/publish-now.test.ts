import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../lib/core/observation.js'
import { publishNow } from '../../lib/core/publish-now.js'
import { settleOptions } from '../../lib/core/settings.js'
import type { PublishOutcome } from '../../lib/core/transport.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'
import { type Answer, envelopeOf, failAll, idsUpTo, publishAll, scriptTransport } from './dispatch/stage.js'

const setUp = (answer: Answer) => {
  const clock = createVirtualClock(0)
  const { transport, requests, sent } = scriptTransport(clock, answer)
  const settings = settleOptions({
    name: 'orders',
    transport,
    persistence: memoryPersistence(),
    clock,
    logger: silentLogger,
  })
  const publish = (ids: readonly string[]) =>
    clock.runUntil(
      publishNow(
        ids.map((id) => envelopeOf(id)),
        settings,
      ),
    )
  return { clock, publish, requests, sent }
}

const failed = (blames: 'message' | 'request' | 'passing' | 'topic', published: 'no' | 'perhaps'): PublishOutcome => ({
  outcome: 'failed',
  blames,
  published,
  reason: 'refused',
})

describe('an immediate publish', () => {
  test('goes in batches, in order', async () => {
    const { publish, requests, clock } = setUp(publishAll)
    const ids = idsUpTo(23)
    expect(await publish(ids)).toEqual(ids.map(() => ({ ok: true })))
    expect(requests.map((request) => request.ids.length)).toEqual([10, 10, 3])
    expect(requests.flatMap((request) => request.ids)).toEqual(ids)
    expect(clock.now()).toBe(0)
  })

  test('is tried three times when the topic is down, then fails as retryable', async () => {
    const { publish, requests } = setUp(failAll('topic'))
    const [result] = await publish(['a'])
    expect(requests.map(({ at }) => at)).toEqual([0, 100, 500])
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'transport.unavailable', retryable: true, details: { published: 'no', messageId: 'a' } },
    })
  })

  test('repeats only what failed', async () => {
    const answer: Answer = (batch, nth) =>
      batch.map(({ envelope }) =>
        envelope.messageId === 'm1' && nth === 1 ? failed('passing', 'perhaps') : { outcome: 'published' },
      )
    const { publish, requests } = setUp(answer)
    expect(await publish(idsUpTo(3))).toEqual([{ ok: true }, { ok: true }, { ok: true }])
    expect(requests.map(({ ids }) => ids)).toEqual([['m0', 'm1', 'm2'], ['m1']])
  })

  test('says perhaps published when any of its tries may have gone out', async () => {
    const answer: Answer = (batch, nth) => batch.map(() => failed('topic', nth === 1 ? 'perhaps' : 'no'))
    const [result] = await setUp(answer).publish(['a'])
    expect(result).toMatchObject({ error: { code: 'transport.unavailable', details: { published: 'perhaps' } } })
    const refusedLater: Answer = (batch, nth) =>
      batch.map(() => (nth === 1 ? failed('passing', 'perhaps') : failed('message', 'no')))
    const [unsure] = await setUp(refusedLater).publish(['a'])
    expect(unsure).toMatchObject({ error: { code: 'transport.unavailable', details: { published: 'perhaps' } } })
  })

  test('that is refused is not tried again, and is no matter of time', async () => {
    const { publish, requests } = setUp(failAll('message'))
    const [result] = await publish(['a'])
    expect(requests).toHaveLength(1)
    expect(result).toMatchObject({ error: { code: 'transport.refused', retryable: false } })
  })

  test('refused whole is tried message by message, and only the bad one fails', async () => {
    const answer: Answer = (batch, nth) =>
      batch.some(({ envelope }) => envelope.messageId === 'm1')
        ? failAll('request')(batch, nth)
        : publishAll(batch, nth)
    const { publish, requests, sent } = setUp(answer)
    const results = await publish(idsUpTo(3))
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true])
    expect(requests.map(({ ids }) => ids)).toEqual([['m0', 'm1', 'm2'], ['m0'], ['m1'], ['m2']])
    expect(sent.map(({ id }) => id)).toEqual(['m0', 'm2'])
  })

  test('on a transport that throws or leaves outcomes out fails as unsure', async () => {
    const throwing: Answer = () => {
      throw new Error('a bug')
    }
    for (const answer of [throwing, () => []]) {
      const [result] = await setUp(answer).publish(['a'])
      expect(result).toMatchObject({ error: { code: 'transport.unavailable', details: { published: 'perhaps' } } })
    }
  })

  test('of nothing asks nothing', async () => {
    const { publish, requests } = setUp(publishAll)
    expect(await publish([])).toEqual([])
    expect(requests).toEqual([])
  })
})
