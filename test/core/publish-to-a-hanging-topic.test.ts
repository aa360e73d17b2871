import { expect, test } from 'vitest'
import { sleepUntil } from '../../lib/core/clock.js'
import { silentLogger } from '../../lib/core/observation.js'
import { publishNow } from '../../lib/core/publish-now.js'
import { settleOptions } from '../../lib/core/settings.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'
import { type Answer, envelopeOf, failAll, idsUpTo, publishAll, scriptTransport } from './dispatch/stage.js'

const TIME_OUT_MS = 5_000

const setUp = (answer: Answer, answersAfterMs: number) => {
  const clock = createVirtualClock(0)
  const slow: Answer = async (batch, nth) => {
    if (answersAfterMs > 0) await sleepUntil(clock, clock.now() + answersAfterMs)
    return answer(batch, nth)
  }
  const { transport, requests, sent } = scriptTransport(clock, slow)
  const persistence = memoryPersistence()
  const settings = settleOptions({ name: 'orders', transport, persistence, clock, logger: silentLogger })
  const publish = (ids: readonly string[]) => {
    const envelopes = ids.map((id) => envelopeOf(id))
    return clock.runUntil(publishNow(envelopes, settings))
  }
  return { clock, publish, requests, sent }
}

test('a topic that hangs costs three time-outs, however many messages there are', async () => {
  const { publish, requests, clock } = setUp(failAll('topic', 'perhaps', 'timed out'), TIME_OUT_MS)
  const results = await publish(idsUpTo(1_000))
  expect(requests).toHaveLength(3)
  expect(clock.now()).toBe(3 * TIME_OUT_MS + 100 + 400)
  const publishedOf = results.map((result) => (result.ok ? 'yes' : result.error.details))
  const tried = new Set(requests.flatMap(({ ids }) => ids))
  for (const [index, details] of publishedOf.entries())
    expect(details).toMatchObject({ published: tried.has(`m${index}`) ? 'perhaps' : 'no', reason: 'timed out' })
})

test('a topic that comes back in the next round gets every message once', async () => {
  const answer: Answer = (batch, nth) => (nth === 1 ? failAll('topic')(batch, nth) : publishAll(batch, nth))
  const { publish, sent } = setUp(answer, 0)
  const results = await publish(idsUpTo(95))
  expect(results.every(({ ok }) => ok)).toBe(true)
  expect(sent.map(({ id }) => id).sort()).toEqual(idsUpTo(95).sort())
})

test('a request that the topic fails for what it holds keeps no other message from being sent', async () => {
  const answer: Answer = (batch, nth) =>
    batch.some(({ envelope }) => ['m5', 'm42'].includes(envelope.messageId))
      ? failAll('topic')(batch, nth)
      : publishAll(batch, nth)
  const { publish, sent } = setUp(answer, 0)
  await publish(idsUpTo(100))
  const unsent = new Set(idsUpTo(100))
  for (const { id } of sent) unsent.delete(id)
  expect(unsent.size).toBeLessThanOrEqual(20)
})

test('a topic that is throttled takes all in the end, as long as each round gets something through', async () => {
  const answer: Answer = (batch, nth) => (nth % 4 === 0 ? failAll('topic')(batch, nth) : publishAll(batch, nth))
  const { publish } = setUp(answer, 0)
  const results = await publish(idsUpTo(300))
  expect(results.every(({ ok }) => ok)).toBe(true)
})

test('a topic that takes one request and hangs at the next ends the call all the same', async () => {
  const answer: Answer = (batch, nth) =>
    nth % 2 === 0 ? failAll('topic', 'perhaps')(batch, nth) : publishAll(batch, nth)
  const { publish, clock } = setUp(answer, TIME_OUT_MS)
  const results = await publish(idsUpTo(1_000))
  expect(results.some(({ ok }) => ok)).toBe(true)
  expect(clock.now()).toBeLessThan(60_000)
})
