import { describe, expect, test } from 'vitest'
import { handlerFor } from '../../../lib/core/receiver.js'
import { keepDeadLetters, recordOf as record, setBatches } from './batch-stage.js'
import { CardCharged, ChargeCard } from './stage.js'

describe('an unreadable record', () => {
  test.each<[string, ReturnType<typeof record>, string]>([
    ['whose body is no JSON', record('shop/charge-card', '{"half":'), 'JSON'],
    ['whose body is a list', record('shop/charge-card', '[1]'), 'its body is no JSON object'],
    ['without an id', record('shop/charge-card', {}, { messageId: '' }), 'the attribute messageId is missing'],
    ['of no kind', record('shop/charge-card', {}, { kind: 'query' }), 'the attribute kind is query'],
  ])('%s is dead at once, with its body as it came', async (_, bad, why) => {
    const deadLetters = keepDeadLetters()
    const { handle, events, rows } = setBatches([handlerFor(ChargeCard, () => {})], { deadLetters })
    expect(await handle([bad])).toEqual([])
    expect(deadLetters.letters).toMatchObject([
      { record: bad, receiver: 'billing', reason: expect.stringContaining(why) },
    ])
    expect(deadLetters.letters[0]).not.toHaveProperty('attempt')
    expect(events.map(({ type }) => type)).toEqual(['handling-failed', 'dead-lettered'])
    expect(await rows()).toEqual([])
  })

  test('is left to its queue when nobody takes dead letters, or they can not be sent now', async () => {
    const bad = record('shop/charge-card', 'nonsense')
    const without = setBatches([], { deadLetters: null })
    expect(await without.handle([bad])).toEqual(['r1'])
    const down = setBatches([], { deadLetters: keepDeadLetters(() => true) })
    expect(await down.handle([bad])).toEqual(['r1'])
    expect(down.events.at(-1)).toMatchObject({ type: 'given-back', recordId: 'r1', reason: 'the queue is down' })
  })
})

test('a message without a handler is redelivered, since a deploy may bring one, and says what is registered', async () => {
  const { handle, events, rows } = setBatches([handlerFor(ChargeCard, () => {}), handlerFor(CardCharged, () => {})])
  expect(await handle([record('shop/refund', { $name: 'shop/refund', $version: 1 })])).toEqual([])
  expect(await rows()).toMatchObject([{ target: 'billing', attempt: 2 }])
  expect(events[0]).toMatchObject({
    type: 'handling-failed',
    reason: expect.stringContaining(
      'the receiver billing has no handler for shop/refund; it has shop/charge-card, shop/card-charged',
    ),
  })
})

describe('a message of a newer version than its handler knows', () => {
  const newer = (attempt = 1, $version = 2) =>
    record(
      'shop/charge-card',
      { $name: 'shop/charge-card', $version, orderId: '1' },
      { delivery: JSON.stringify({ attempt, failure: { count: 3 } }) },
    )

  test('waits without running it, and without a failure, ever longer', async () => {
    let runs = 0
    const { handle, events, clock, rows } = setBatches([handlerFor(ChargeCard, () => void runs++)])
    for (const attempt of [1, 2, 3, 10, 5_000]) expect(await handle([newer(attempt)])).toEqual([])
    expect(runs).toBe(0)
    const waits = events.flatMap((event) => (event.type === 'redelivery-stored' ? [event.dueAt - clock.now()] : []))
    expect(waits).toEqual([60_000, 120_000, 240_000, 3_600_000, 3_600_000])
    expect(events[0]).toEqual({
      type: 'newer-version',
      messageId: 'm1',
      name: 'shop/charge-card',
      receiver: 'billing',
      version: 2,
      known: 1,
    })
    expect(events.some(({ type }) => type === 'handling-failed')).toBe(false)
    const failures = (await rows()).map(({ envelope }) => typeof envelope === 'object' && envelope.failure?.count)
    expect(failures).toEqual([3, 3, 3, 3, 3])
  })

  test('runs it when it is a version that is known', async () => {
    const versions: number[] = []
    const { handle } = setBatches([handlerFor(ChargeCard, ({ $version }) => void versions.push($version))])
    expect(await handle([newer(1, 1)])).toEqual([])
    expect(versions).toEqual([1])
  })

  test('runs a handler of a class, which knows its version too', async () => {
    class Refund {
      readonly $name = 'shop/charge-card'
      readonly $version = 3
    }
    const versions: number[] = []
    const { handle, events } = setBatches([handlerFor(Refund, ({ $version }) => void versions.push($version))])
    await handle([newer(1, 3)])
    await handle([newer(1, 4)])
    expect(versions).toEqual([3])
    expect(events.at(-1)).toMatchObject({ why: 'newer-version' })
  })
})

test('a dead letter that was put back has its failures counted anew', async () => {
  const failing = handlerFor(ChargeCard, () => {
    throw new Error('still declined')
  })
  const { handle, rows } = setBatches([failing])
  const dead = record('shop/charge-card', ChargeCard({ orderId: '1' }), {
    delivery: JSON.stringify({ attempt: 5, failure: { count: 4 } }),
    deadLetter: JSON.stringify({ reason: 'failed 5 times', diedAt: 1 }),
  })
  expect(await handle([dead])).toEqual([])
  expect(await rows()).toMatchObject([{ attempt: 6, envelope: { failure: { count: 1 } } }])
})

describe('a copy that no store could take', () => {
  const failing = handlerFor(ChargeCard, () => {
    throw new Error('declined')
  })

  test.each<[string, Record<string, string>, string]>([
    ['whose id can not name a row', { messageId: 'a~b' }, 'its messageId can not name a row'],
    ['whose id is too long', { messageId: 'x'.repeat(129) }, 'its messageId can not name a row'],
    ['that leaves no room', { headers: JSON.stringify({ h: 'x'.repeat(262_000) }) }, 'it leaves no room'],
  ])('%s is left to the queue', async (_, attributes, why) => {
    const { handle, events, rows } = setBatches([failing])
    expect(await handle([record('shop/charge-card', ChargeCard({ orderId: '1' }), attributes)])).toEqual(['r1'])
    expect(events.at(-1)).toMatchObject({ type: 'given-back', reason: expect.stringContaining(why) })
    expect(await rows()).toEqual([])
  })
})
