import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPostdateError } from '../../lib/core/errors.js'
import { LATEST_INSTANT } from '../../lib/core/lease.js'
import { resolveDueAt } from '../../lib/core/schedule.js'

const NOW = Date.UTC(2030, 0, 1)
const YEAR_MS = 365.25 * 86_400_000
const RULES = { horizonMs: 10 * YEAR_MS, pastDue: 'send' } as const

const codeOf = (options: object, rules: Parameters<typeof resolveDueAt>[2] = RULES): string => {
  try {
    return `resolved to ${resolveDueAt(options, NOW, rules)}`
  } catch (error) {
    return isPostdateError(error) ? error.code : `no Postdate error: ${error}`
  }
}

describe('a schedule', () => {
  test.each<[string, object, number | undefined]>([
    ['no form', {}, undefined],
    ['other options', { correlationId: 'x' }, undefined],
    ['milliseconds', { deliverAfter: 1_500 }, NOW + 1_500],
    ['no milliseconds, which is now', { deliverAfter: 0 }, NOW],
    ['a fraction, rounded up so that it is never early', { deliverAfter: 0.1 }, NOW + 1],
    [
      'parts, added up',
      { deliverAfter: { days: 1, hours: 2, minutes: 3, seconds: 4, milliseconds: 5 } },
      NOW + 93_784_005,
    ],
    ['fractions of parts', { deliverAfter: { hours: 0.5, milliseconds: 0.5 } }, NOW + 1_800_001],
    ['a date', { deliverAt: new Date(NOW + 60_000) }, NOW + 60_000],
    ['a date in the past', { deliverAt: new Date(NOW - 1) }, NOW - 1],
    ['a date before 1970', { deliverAt: new Date(-1) }, -1],
    ['the last instant of the horizon', { deliverAfter: 10 * YEAR_MS }, NOW + 10 * YEAR_MS],
  ])('takes %s', (_what, options, dueAt) => {
    expect(resolveDueAt(options, NOW, RULES)).toBe(dueAt)
  })

  test.each<[string, object, string]>([
    ['two forms', { deliverAfter: 5, deliverAt: new Date(NOW) }, 'schedule.two-forms'],
    ['two forms, one of them undefined', { deliverAfter: 5, deliverAt: undefined }, 'schedule.two-forms'],
    ['a duration that is undefined, which would mean now', { deliverAfter: undefined }, 'schedule.missing-value'],
    ['a date that is null', { deliverAt: null }, 'schedule.missing-value'],
    ['a negative duration', { deliverAfter: -1 }, 'schedule.invalid-duration'],
    ['NaN', { deliverAfter: Number.NaN }, 'schedule.invalid-duration'],
    ['infinity', { deliverAfter: Number.POSITIVE_INFINITY }, 'schedule.invalid-duration'],
    ['text as a duration', { deliverAfter: '5 minutes' }, 'schedule.invalid-duration'],
    ['a bigint', { deliverAfter: 5n }, 'schedule.invalid-duration'],
    ['no parts', { deliverAfter: {} }, 'schedule.invalid-duration'],
    ['an unknown part', { deliverAfter: { weeks: 1 } }, 'schedule.invalid-duration'],
    ['a part that is undefined', { deliverAfter: { days: 1, hours: undefined } }, 'schedule.invalid-duration'],
    [
      'a negative part, though the sum is none',
      { deliverAfter: { hours: 2, minutes: -1 } },
      'schedule.invalid-duration',
    ],
    ['a list as parts', { deliverAfter: [1_000] }, 'schedule.invalid-duration'],
    ['a date as a duration', { deliverAfter: new Date(NOW) }, 'schedule.invalid-duration'],
    ['a duration beyond exact numbers', { deliverAfter: Number.MAX_SAFE_INTEGER }, 'schedule.invalid-duration'],
    ['an invalid date', { deliverAt: new Date('03-45-2035') }, 'schedule.invalid-instant'],
    ['text as an instant', { deliverAt: '2035-03-07T10:30:00Z' }, 'schedule.invalid-instant'],
    ['a number as an instant: seconds or milliseconds?', { deliverAt: NOW + 60_000 }, 'schedule.invalid-instant'],
    ['a millisecond beyond the horizon', { deliverAfter: 10 * YEAR_MS + 1 }, 'schedule.beyond-horizon'],
    ['a date beyond the horizon', { deliverAt: new Date(NOW + 11 * YEAR_MS) }, 'schedule.beyond-horizon'],
    ['what no Date can hold', { deliverAfter: 8.65e15 }, 'schedule.beyond-horizon'],
  ])('refuses %s', (_what, options, code) => {
    expect(codeOf(options)).toBe(code)
  })

  test('refuses a past instant when the bus says so, and takes the present one', () => {
    const strict = { ...RULES, pastDue: 'reject' } as const
    expect(codeOf({ deliverAt: new Date(NOW - 1) }, strict)).toBe('schedule.in-the-past')
    expect(resolveDueAt({ deliverAt: new Date(NOW) }, NOW, strict)).toBe(NOW)
    expect(resolveDueAt({ deliverAfter: 0 }, NOW, strict)).toBe(NOW)
  })

  test('ends any horizon where keys and registers have no more digits', () => {
    const endless = { ...RULES, horizonMs: Number.MAX_SAFE_INTEGER }
    expect(resolveDueAt({ deliverAt: new Date(LATEST_INSTANT) }, NOW, endless)).toBe(LATEST_INSTANT)
    expect(codeOf({ deliverAt: new Date(LATEST_INSTANT + 1) }, endless)).toBe('schedule.beyond-horizon')
  })

  test('never resolves a duration to an earlier instant than was asked for, nor a whole millisecond later', () => {
    const part = fc.double({ min: 0, max: 1_000, noNaN: true })
    fc.assert(
      fc.property(fc.record({ days: part, hours: part, seconds: part, milliseconds: part }), (parts) => {
        const asked = parts.days * 86_400_000 + parts.hours * 3_600_000 + parts.seconds * 1_000 + parts.milliseconds
        const dueAt = resolveDueAt({ deliverAfter: parts }, NOW, RULES) ?? 0
        expect(Number.isSafeInteger(dueAt)).toBe(true)
        // Sums of fractions are exact to some millionths of a millisecond.
        expect(dueAt - NOW).toBeGreaterThanOrEqual(asked - 1e-4)
        expect(dueAt - NOW).toBeLessThan(asked + 1 + 1e-4)
      }),
    )
  })
})
