import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defineReceiver, handlerFor } from '../../../lib/core/receiver.js'
import { describeReceiver } from '../../../lib/core/redelivery/describe-receiver.js'
import { describeRedelivery, formatDuration } from '../../../lib/core/redelivery/describe-redelivery.js'
import {
  longestDelay,
  plainDelay,
  type RedeliveryOptions,
  redeliveryDelay,
  settleRedelivery,
} from '../../../lib/core/redelivery/redelivery-policy.js'
import { memoryInbox } from '../../../lib/memory/inbox.js'
import { ChargeCard } from './stage.js'

const waitsOf = (options: RedeliveryOptions, count: number) => {
  const policy = settleRedelivery(options)
  return Array.from({ length: count }, (_, index) => redeliveryDelay(policy, index + 1, 'm~billing~1'))
}

const anyOptions: fc.Arbitrary<RedeliveryOptions> = fc.oneof(
  fc.record(
    {
      delay: fc.integer({ min: 0, max: 86_400_000 }),
      backoff: fc.constantFrom('fixed' as const, 'exponential' as const),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
      maxAttempts: fc.integer({ min: 1, max: 100 }),
    },
    { requiredKeys: [] },
  ),
  fc.record(
    {
      delays: fc.array(fc.integer({ min: 0, max: 10 ** 9 }), { minLength: 1, maxLength: 10 }),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
      maxAttempts: fc.integer({ min: 1, max: 20 }),
    },
    { requiredKeys: ['delays'] },
  ),
)

describe('the waits between attempts', () => {
  test.each<[string, RedeliveryOptions, readonly number[]]>([
    ['double from 10 s by default', {}, [10_000, 20_000, 40_000, 80_000]],
    ['are at most an hour by default', { delay: { minutes: 20 } }, [1_200_000, 2_400_000, 3_600_000, 3_600_000]],
    ['are at most the longest', { delay: 1_000, maxDelay: { seconds: 3 } }, [1_000, 2_000, 3_000, 3_000]],
    ['are all the same', { delay: { seconds: 5 }, backoff: 'fixed' }, [5_000, 5_000, 5_000]],
    ['may be longer than the default longest', { delay: { hours: 6 } }, [21_600_000, 21_600_000]],
    ['are those of the list, then its last', { delays: [1, { seconds: 2 }, 3] }, [1, 2_000, 3, 3]],
    ['round up to whole milliseconds', { delays: [0.1] }, [1]],
  ])('%s', (_, options, waits) => {
    expect(waitsOf(options, waits.length)).toEqual(waits)
  })

  test('stay a number after very many failures', () => {
    expect(waitsOf({}, 5_000).at(-1)).toBe(3_600_000)
  })

  test('are whole, within the jitter, the same for the same attempt, and never longer than the longest', () => {
    fc.assert(
      fc.property(anyOptions, fc.integer({ min: 1, max: 100 }), fc.string(), (options, failures, seed) => {
        const policy = settleRedelivery(options)
        const wait = redeliveryDelay(policy, failures, seed)
        const plain = plainDelay(policy, failures)
        expect(Number.isSafeInteger(wait)).toBe(true)
        expect(wait).toBeLessThanOrEqual(plain)
        expect(wait).toBeGreaterThanOrEqual(Math.floor(plain * (1 - policy.jitter)))
        expect(redeliveryDelay(policy, failures, seed)).toBe(wait)
        if (failures < policy.maxAttempts) expect(plain).toBeLessThanOrEqual(longestDelay(policy))
      }),
    )
  })

  test('of many messages are spread by the jitter', () => {
    const policy = settleRedelivery({ delay: 10_000, jitter: 1 })
    const waits = Array.from({ length: 1_000 }, (_, index) => redeliveryDelay(policy, 1, `m${index}~billing~1`))
    for (const part of [0, 1, 2, 3])
      expect(waits.filter((wait) => Math.floor(wait / 2_500) === part).length).toBeGreaterThan(150)
  })
})

describe('options that are refused', () => {
  test.each<[string, object, string]>([
    ['an unknown name', { dealy: 5 }, 'options.unknown'],
    ['no number of attempts', { maxAttempts: 0 }, 'options.invalid'],
    ['a fraction of attempts', { maxAttempts: 1.5 }, 'options.invalid'],
    ['a jitter above 1', { jitter: 1.1 }, 'options.invalid'],
    ['a jitter that is no number', { jitter: Number.NaN }, 'options.invalid'],
    ['another backoff', { backoff: 'linear' }, 'options.invalid'],
    ['a delay that is text', { delay: '10s' }, 'options.invalid'],
    ['a negative delay', { delay: -1 }, 'options.invalid'],
    ['a longest wait below the first', { delay: 5_000, maxDelay: 4_000 }, 'options.invalid'],
    ['a longest wait below the default first', { maxDelay: 4_000 }, 'options.invalid'],
    ['an empty list', { delays: [] }, 'options.invalid'],
    ['a list and a delay', { delays: [1], delay: 1 }, 'options.invalid'],
    ['a list and a backoff', { delays: [1], backoff: 'fixed' }, 'options.invalid'],
    ['a list with text in it', { delays: [1, '2s'] }, 'options.invalid'],
    ['a judge that is none', { never: 'TypeError' }, 'options.invalid'],
    ['a switch that is text', { enabled: 'false' }, 'options.invalid'],
  ])('%s', (_, options, code) => {
    expect(() => settleRedelivery(options)).toThrowError(expect.objectContaining({ code }))
  })
})

describe('the configuration as text', () => {
  test('tells the defaults', () => {
    expect(describeRedelivery()).toBe(
      [
        'redelivery   on a durable persistence and a standard queue; elsewhere the queue retries',
        'attempts     5, then the dead letters',
        'waits        10 s, 20 s, 40 s, 1 min 20 s (from 10 s, doubled, at most 1 h)',
        'jitter       none',
        'never for    no error',
      ].join('\n'),
    )
  })

  test('tells what was chosen', () => {
    const never = function isDeclined() {
      return true
    }
    expect(describeRedelivery({ delays: [{ seconds: 54_524 }, 1_500], jitter: 0.25, never })).toBe(
      [
        'redelivery   on a durable persistence and a standard queue; elsewhere the queue retries',
        'attempts     3, then the dead letters',
        'waits        15 h 8 min 44 s, 1 s 500 ms (as listed)',
        'jitter       each wait is shortened by up to 25 %',
        'never for    errors that the function isDeclined picks',
      ].join('\n'),
    )
    expect(describeRedelivery({ delay: 5_000, backoff: 'fixed', maxAttempts: 100 })).toContain(
      'waits        5 s, 5 s, 5 s, 5 s, 5 s, 5 s, 5 s, 5 s, 5 s, 5 s, … (fixed)',
    )
    expect(describeRedelivery({ maxAttempts: 1 })).toContain('waits        none')
    expect(describeRedelivery({ enabled: false })).toBe(
      'redelivery   off: the queue retries at its visibility time-out, then its redrive policy',
    )
  })

  test('tells of a receiver what it handles and how', () => {
    const receiver = defineReceiver('billing', [handlerFor(ChargeCard, () => {})], {
      inbox: memoryInbox({ retention: { days: 7 } }),
      incoming: [async (_, next) => next()],
    })
    expect(describeReceiver(receiver)).toBe(
      [
        'receiver     billing',
        'handles      shop/charge-card (up to version 1)',
        'incoming     1 middleware',
        'inbox        memory, for 7 d',
        describeRedelivery(),
      ].join('\n'),
    )
    expect(describeReceiver(defineReceiver('mail', []))).toBe(
      [
        'receiver     mail',
        'handles      nothing',
        'incoming     none',
        'inbox        none',
        describeRedelivery(),
      ].join('\n'),
    )
  })

  test.each([
    [0, '0 ms'],
    [1, '1 ms'],
    [60_000, '1 min'],
    [90_061_001, '1 d 1 h 1 min 1 s 1 ms'],
  ])('writes %i ms as %s', (durationMs, text) => {
    expect(formatDuration(durationMs)).toBe(text)
  })
})

describe('an inbox', () => {
  test('that would forget before the longest wait is over is refused', () => {
    const define = (retentionMs: number, redelivery: RedeliveryOptions) =>
      defineReceiver('billing', [], { inbox: memoryInbox({ retention: retentionMs }), redelivery })
    const delays = [{ hours: 30 }, { hours: 1 }]
    expect(() => define(30 * 3_600_000, { delays })).toThrowError(
      expect.objectContaining({
        code: 'options.invalid',
        details: {
          option: 'inbox.retention',
          value: '108000000 ms',
          rule: 'it must exceed the longest wait of the redelivery, 108000000 ms',
        },
      }),
    )
    expect(() => define(30 * 3_600_000 + 1, { delays })).not.toThrow()
    expect(() => define(80_000, {})).toThrowError(expect.objectContaining({ code: 'options.invalid' }))
    expect(() => define(80_001, {})).not.toThrow()
    expect(() => define(1, { enabled: false })).not.toThrow()
  })
})
