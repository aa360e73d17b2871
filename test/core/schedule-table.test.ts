import { describe, expect, test } from 'vitest'
import { isPostdateError } from '../../lib/core/errors.js'
import { LATEST_INSTANT } from '../../lib/core/lease.js'
import { settleDueAt } from '../../lib/core/schedule/due-instant.js'
import { readSchedule, type ScheduleRules } from '../../lib/core/schedule.js'
import { settleOptions } from '../../lib/core/settings.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { memoryTransport } from '../../lib/memory/transport.js'
import { temporalDuration, temporalInstant } from './temporal-shapes.js'

const NOW = Date.parse('2026-01-01T00:00:00.000Z')
const TEN_YEARS_MS = 10 * 365.25 * 86_400_000

const DEFAULTS = settleOptions({
  name: 'orders',
  transport: memoryTransport(),
  persistence: memoryPersistence(),
}).schedule

/** The due instant as text, `at once`, or the code of the refusal. */
const answerTo = (options: object, changes: Partial<ScheduleRules> = {}, now = NOW): string => {
  const rules = { ...DEFAULTS, ...changes }
  try {
    const dueAt = settleDueAt(readSchedule(options, now, rules), 'message-1', now, rules.resolutionMs)
    return dueAt === undefined ? 'at once' : new Date(dueAt).toISOString()
  } catch (error) {
    return isPostdateError(error) ? error.code : `no Postdate error: ${error}`
  }
}

type Line = readonly [what: string, options: object, answer: string, rules?: Partial<ScheduleRules>]

/** Compared with a number, its answer is neither before nor after. */
class Spoken extends Date {
  override getTime() {
    return 'soon' as never
  }
}

const after = (deliverAfter: unknown) => ({ deliverAfter })
const at = (deliverAt: unknown) => ({ deliverAt })
const level = (delayLevel: unknown) => ({ delayLevel })
const local = (text: string, timeZone: string, more: object = {}) => at({ local: text, timeZone, ...more })

const BAD_DURATION = 'schedule.invalid-duration'
const BAD_INSTANT = 'schedule.invalid-instant'
const BEYOND = 'schedule.beyond-horizon'

class Elapsed {
  readonly hours = 1
}

const numbers: readonly Line[] = [
  ['nothing', {}, 'at once'],
  ['options that say nothing of time', { correlationId: 'c' }, 'at once'],
  ['0 ms', after(0), 'at once'],
  ['minus 0 ms', after(-0), 'at once'],
  ['1 ms', after(1), '2026-01-01T00:00:00.001Z'],
  ['a fraction, rounded up', after(0.001), '2026-01-01T00:00:00.001Z'],
  ['the smallest fraction', after(Number.MIN_VALUE), '2026-01-01T00:00:00.001Z'],
  ['1,500.2 ms', after(1_500.2), '2026-01-01T00:00:01.501Z'],
  ['2^31 - 1 ms', after(2 ** 31 - 1), '2026-01-25T20:31:23.647Z'],
  ['2^31 ms', after(2 ** 31), '2026-01-25T20:31:23.648Z'],
  ['2^32 ms', after(2 ** 32), '2026-02-19T17:02:47.296Z'],
  ['a leap day', after(789 * 86_400_000), '2028-02-29T00:00:00.000Z'],
  ['-1 ms', after(-1), BAD_DURATION],
  ['NaN', after(Number.NaN), BAD_DURATION],
  ['infinity', after(Number.POSITIVE_INFINITY), BAD_DURATION],
  ['minus infinity', after(Number.NEGATIVE_INFINITY), BAD_DURATION],
  ['an unsafe integer', after(2 ** 53), BAD_DURATION],
  ['a safe integer that ends in an unsafe one', after(Number.MAX_SAFE_INTEGER), BAD_DURATION],
  ['a bigint', after(5n), BAD_DURATION],
  ['text', after('5000'), BAD_DURATION],
  ['text of ISO 8601', after('PT5M'), BAD_DURATION],
  ['true', after(true), BAD_DURATION],
  ['a function', after(() => 5), BAD_DURATION],
  ['a symbol', after(Symbol('5')), BAD_DURATION],
  ['a boxed number', after(Object(5)), BAD_DURATION],
]

const parts: readonly Line[] = [
  ['every part', after({ days: 1, hours: 2, minutes: 3, seconds: 4, milliseconds: 5 }), '2026-01-02T02:03:04.005Z'],
  ['parts above their unit', after({ hours: 48, minutes: 90 }), '2026-01-03T01:30:00.000Z'],
  ['parts that are 0', after({ days: 0 }), 'at once'],
  ['1.1 s, exactly', after({ seconds: 1.1 }), '2026-01-01T00:00:01.100Z'],
  ['a tenth and two tenths of a second', after({ seconds: 0.1, milliseconds: 200 }), '2026-01-01T00:00:00.300Z'],
  ['half an hour and half a millisecond', after({ hours: 0.5, milliseconds: 0.5 }), '2026-01-01T00:30:00.001Z'],
  ['a microsecond', after({ microseconds: 1 }), '2026-01-01T00:00:00.001Z'],
  ['a thousand microseconds', after({ microseconds: 1_000 }), '2026-01-01T00:00:00.001Z'],
  ['nine years and a nanosecond', after({ days: 3_287, nanoseconds: 1 }), '2035-01-01T00:00:00.001Z'],
  ['{ days: 1 } over a night that has 23 hours', after({ days: 1 }), '2026-03-09T05:00:00.000Z', {}],
  ['no parts', after({}), BAD_DURATION],
  ['an unknown part', after({ fortnights: 1 }), BAD_DURATION],
  ['a singular', after({ day: 1 }), BAD_DURATION],
  ['a part in capitals', after({ Hours: 1 }), BAD_DURATION],
  ['weeks', after({ weeks: 1 }), BAD_DURATION],
  ['months', after({ months: 1 }), BAD_DURATION],
  ['a negative part, though the sum is none', after({ hours: 2, minutes: -1 }), BAD_DURATION],
  ['a part that is undefined', after({ days: 1, hours: undefined }), BAD_DURATION],
  ['a part that is text', after({ days: '1' }), BAD_DURATION],
  ['a part that is NaN', after({ days: Number.NaN }), BAD_DURATION],
  ['a part that is an unsafe integer', after({ nanoseconds: 2 ** 60 }), BAD_DURATION],
  ['parts that add up to an unsafe integer', after({ days: 2 ** 40 }), BAD_DURATION],
  ['a list', after([1_000]), BAD_DURATION],
  ['a Date', after(new Date(NOW + 5)), BAD_DURATION],
  ['a map', after(new Map([['days', 1]])), BAD_DURATION],
  ['an object of a class', after(new Elapsed()), BAD_DURATION],
  ['a Temporal.Duration', after(temporalDuration({ hours: 1, minutes: 30 })), '2026-01-01T01:30:00.000Z'],
  ['a Temporal.Duration of a nanosecond', after(temporalDuration({ nanoseconds: 1 })), '2026-01-01T00:00:00.001Z'],
  ['a Temporal.Duration of nothing', after(temporalDuration({})), 'at once'],
  ['a Temporal.Duration with weeks', after(temporalDuration({ weeks: 1 })), BAD_DURATION],
  ['a Temporal.Duration with months', after(temporalDuration({ months: 1, days: 1 })), BAD_DURATION],
  ['a Temporal.Duration with years', after(temporalDuration({ years: 1 })), BAD_DURATION],
  ['a negative Temporal.Duration', after(temporalDuration({ hours: -1 })), BAD_DURATION],
  [
    "another library's duration, without nanoseconds",
    after(temporalDuration({ hours: 1 }, 'milliseconds')),
    BAD_DURATION,
  ],
]

const instants: readonly Line[] = [
  ['a Date', at(new Date('2026-11-12T08:00Z')), '2026-11-12T08:00:00.000Z'],
  ['a Date whose class answers getTime with text', at(new Spoken(NOW + 5)), '2026-01-01T00:00:00.005Z'],
  ['a Date now', at(new Date(NOW)), 'at once'],
  ['a Date that has passed', at(new Date(NOW - 1)), 'at once'],
  ['a Date that has passed, refused', at(new Date(NOW - 1)), 'schedule.in-the-past', { pastDue: 'reject' }],
  ['a Date now, where the past is refused', at(new Date(NOW)), 'at once', { pastDue: 'reject' }],
  ['a Date before 1970', at(new Date(-1)), BAD_INSTANT],
  ['a Date made of seconds', at(new Date(1_800_000_000)), BAD_INSTANT, { pastDue: 'reject' }],
  ['a leap day', at(new Date('2028-02-29T12:00Z')), '2028-02-29T12:00:00.000Z'],
  ['an invalid Date', at(new Date('03-45-2035')), BAD_INSTANT],
  ['text of ISO 8601', at('2035-03-07T10:30:00Z'), BAD_INSTANT],
  ['text without a zone', at('03-07-2035 10:30'), BAD_INSTANT],
  ['a bare number: seconds or milliseconds?', at(NOW + 60_000), BAD_INSTANT],
  ['seconds as a number', at(1_800_000_000), BAD_INSTANT],
  ['a bigint', at(BigInt(NOW)), BAD_INSTANT],
  ['an empty object', at({}), BAD_INSTANT],
  ['a promise of a Date', at(Promise.resolve(new Date(NOW + 5))), BAD_INSTANT],
  ['what only says that it is a Date', at({ [Symbol.toStringTag]: 'Date', getTime: () => NOW + 5 }), BAD_INSTANT],
  ['epoch milliseconds', at({ epochMilliseconds: NOW + 5 }), '2026-01-01T00:00:00.005Z'],
  ['half an epoch millisecond, rounded up', at({ epochMilliseconds: NOW + 4.5 }), '2026-01-01T00:00:00.005Z'],
  ['epoch milliseconds that have passed', at({ epochMilliseconds: NOW - 5 }), 'at once'],
  ['epoch milliseconds that are seconds', at({ epochMilliseconds: 1_800_000_000 }), BAD_INSTANT],
  ['epoch milliseconds that are NaN', at({ epochMilliseconds: Number.NaN }), BAD_INSTANT],
  ['epoch milliseconds without end', at({ epochMilliseconds: Number.POSITIVE_INFINITY }), BAD_INSTANT],
  ['epoch milliseconds as text', at({ epochMilliseconds: '5' }), BAD_INSTANT],
  ['epoch milliseconds that are unsafe', at({ epochMilliseconds: 2 ** 53 }), BAD_INSTANT],
  ['epoch milliseconds that are undefined', at({ epochMilliseconds: undefined }), BAD_INSTANT],
  ['epoch seconds', at({ epochSeconds: 1_800_000_000 }), BAD_INSTANT],
  ['epoch milliseconds and something else', at({ epochMilliseconds: NOW + 5, timezone: 'UTC' }), BAD_INSTANT],
  ['epoch milliseconds and a local time', at({ epochMilliseconds: NOW + 5, local: '2026-11-12T08:00' }), BAD_INSTANT],
  ['a Temporal.Instant', at(temporalInstant(BigInt(NOW + 5) * 1_000_000n)), '2026-01-01T00:00:00.005Z'],
  [
    'a Temporal.Instant, whose milliseconds are cut, rounded up',
    at(temporalInstant(BigInt(NOW + 4) * 1_000_000n + 1n)),
    '2026-01-01T00:00:00.005Z',
  ],
  ['nanoseconds of another instant', at({ epochMilliseconds: NOW + 5, epochNanoseconds: 5n }), BAD_INSTANT],
  ['nanoseconds that are no bigint', at({ epochMilliseconds: NOW + 5, epochNanoseconds: 5 }), BAD_INSTANT],
]

const NEW_YORK = 'America/New_York'
const LORD_HOWE = 'Australia/Lord_Howe'
const MISSING = 'schedule.missing-local-time'
const REPEATED = 'schedule.repeated-local-time'

const localTimes: readonly Line[] = [
  ['eight in Melbourne', local('2026-11-12T08:00', 'Australia/Melbourne'), '2026-11-11T21:00:00.000Z'],
  ['UTC', local('2026-11-12T08:00:30.5', 'UTC'), '2026-11-12T08:00:30.500Z'],
  ['milliseconds', local('2026-11-12T08:00:00.007', 'Europe/Berlin'), '2026-11-12T07:00:00.007Z'],
  ['a leap day', local('2028-02-29T00:00', 'Asia/Kathmandu'), '2028-02-28T18:15:00.000Z'],
  ['a time that is missing', local('2026-03-08T02:30', NEW_YORK), '2026-03-08T07:30:00.000Z'],
  [
    'one that is missing, back',
    local('2026-03-08T02:30', NEW_YORK, { ifMissing: 'backward' }),
    '2026-03-08T06:30:00.000Z',
  ],
  ['one that is missing, refused', local('2026-03-08T02:30', NEW_YORK, { ifMissing: 'reject' }), MISSING],
  ['the last minute before', local('2026-03-08T01:59', NEW_YORK, { ifMissing: 'reject' }), '2026-03-08T06:59:00.000Z'],
  ['the first minute after', local('2026-03-08T03:00', NEW_YORK, { ifMissing: 'reject' }), '2026-03-08T07:00:00.000Z'],
  ['a time that comes twice', local('2026-11-01T01:30', NEW_YORK), '2026-11-01T05:30:00.000Z'],
  ['the second of two', local('2026-11-01T01:30', NEW_YORK, { ifAmbiguous: 'second' }), '2026-11-01T06:30:00.000Z'],
  ['one of two, refused', local('2026-11-01T01:30', NEW_YORK, { ifAmbiguous: 'reject' }), REPEATED],
  ['a half hour that comes twice', local('2026-04-05T01:45', LORD_HOWE), '2026-04-04T14:45:00.000Z'],
  ['its second', local('2026-04-05T01:45', LORD_HOWE, { ifAmbiguous: 'second' }), '2026-04-04T15:15:00.000Z'],
  ['a half hour that is missing', local('2026-10-04T02:15', LORD_HOWE), '2026-10-03T15:45:00.000Z'],
  ['a local time that has passed', local('2025-12-31T23:59', 'UTC'), 'at once'],
  ['a local day that was skipped', local('2011-12-30T12:00', 'Pacific/Apia', { ifMissing: 'reject' }), MISSING],
  ['a zone in small letters', local('2026-11-12T08:00', 'europe/berlin'), '2026-11-12T07:00:00.000Z'],
  ['a place that is none', local('2026-11-12T08:00', 'Europe/Atlantis'), BAD_INSTANT],
  ['an offset as zone', local('2026-11-12T08:00', '+10:00'), BAD_INSTANT],
  ['an empty zone', local('2026-11-12T08:00', ''), BAD_INSTANT],
  ['no zone', at({ local: '2026-11-12T08:00' }), BAD_INSTANT],
  ['a zone without a time', at({ timeZone: 'UTC' }), BAD_INSTANT],
  ['an offset', local('2026-11-12T08:00+10:00', 'UTC'), BAD_INSTANT],
  ['a Z', local('2026-11-12T08:00Z', 'UTC'), BAD_INSTANT],
  ['a day alone', local('2026-11-12', 'UTC'), BAD_INSTANT],
  ['a blank for the T', local('2026-11-12 08:00', 'UTC'), BAD_INSTANT],
  ['a day that no month has', local('2026-02-30T08:00', 'UTC'), BAD_INSTANT],
  ['29 February of a common year', local('2026-02-29T08:00', 'UTC'), BAD_INSTANT],
  ['hour 24', local('2026-11-12T24:00', 'UTC'), BAD_INSTANT],
  ['a leap second', local('2026-12-31T23:59:60', 'UTC'), BAD_INSTANT],
  ['nine digits of a second', local('2026-11-12T08:00:00.123456789', 'UTC'), BAD_INSTANT],
  ['a year before 1970', local('1969-12-31T23:59', 'UTC'), BAD_INSTANT],
  ['a choice that is none', local('2026-11-12T08:00', 'UTC', { ifMissing: 'skip' }), BAD_INSTANT],
  ['a choice that is null', local('2026-11-12T08:00', 'UTC', { ifAmbiguous: null }), BAD_INSTANT],
  ['a misspelt choice', local('2026-11-12T08:00', 'UTC', { ifAmbigous: 'first' }), BAD_INSTANT],
]

const MINUTE_TABLE = { delayLevelsMs: [60_000] }

const levels: readonly Line[] = [
  ['level 1: 1 s', level(1), '2026-01-01T00:00:01.000Z'],
  ['level 2: 5 s', level(2), '2026-01-01T00:00:05.000Z'],
  ['level 3: 10 s', level(3), '2026-01-01T00:00:10.000Z'],
  ['level 4: 30 s', level(4), '2026-01-01T00:00:30.000Z'],
  ['level 5: 1 min', level(5), '2026-01-01T00:01:00.000Z'],
  ['level 14: 10 min', level(14), '2026-01-01T00:10:00.000Z'],
  ['level 15: 20 min', level(15), '2026-01-01T00:20:00.000Z'],
  ['level 18: 2 h', level(18), '2026-01-01T02:00:00.000Z'],
  ['level 1 of a table of its own', level(1), '2026-01-01T00:01:00.000Z', MINUTE_TABLE],
  ['level 2 of a table of one', level(2), 'schedule.unknown-delay-level', MINUTE_TABLE],
  ['level 0', level(0), 'schedule.unknown-delay-level'],
  ['level 19', level(19), 'schedule.unknown-delay-level'],
  ['level -1', level(-1), 'schedule.unknown-delay-level'],
  ['level 1.5', level(1.5), 'schedule.unknown-delay-level'],
  ['level NaN', level(Number.NaN), 'schedule.unknown-delay-level'],
  ['a level as text', level('3'), 'schedule.unknown-delay-level'],
]

const ONE_HOUR = { horizonMs: 3_600_000 }

const bounds: readonly Line[] = [
  ['the horizon less 1 ms', after(TEN_YEARS_MS - 1), '2036-01-01T11:59:59.999Z'],
  ['the horizon', after(TEN_YEARS_MS), '2036-01-01T12:00:00.000Z'],
  ['the horizon and 1 ms', after(TEN_YEARS_MS + 1), BEYOND],
  ['a Date at the horizon', at(new Date(NOW + 3_600_000)), '2026-01-01T01:00:00.000Z', ONE_HOUR],
  ['a Date 1 ms beyond it', at(new Date(NOW + 3_600_001)), BEYOND, ONE_HOUR],
  ['a level beyond it', level(18), BEYOND, ONE_HOUR],
  ['a local time beyond it', local('2026-01-01T01:00:01', 'UTC'), BEYOND, ONE_HOUR],
  ['a spread that ends at it', { deliverAfter: 0, spread: 3_600_001 }, BEYOND, ONE_HOUR],
  ['what no Date can hold', after(8.65e15), BEYOND],
  [
    'a Date beyond what keys can hold',
    at(new Date(LATEST_INSTANT + 1)),
    BEYOND,
    { horizonMs: Number.MAX_SAFE_INTEGER },
  ],
  [
    'the latest instant, which its resolution puts beyond what keys can hold',
    at(new Date(LATEST_INSTANT)),
    BEYOND,
    { horizonMs: Number.MAX_SAFE_INTEGER, resolutionMs: 1_000 },
  ],
]

const combinations: readonly Line[] = [
  ['two forms', { deliverAfter: 5, deliverAt: new Date(NOW) }, 'schedule.two-forms'],
  ['three forms', { deliverAfter: 5, deliverAt: new Date(NOW), delayLevel: 1 }, 'schedule.two-forms'],
  ['two forms, one of them undefined', { deliverAfter: 5, deliverAt: undefined }, 'schedule.two-forms'],
  ['deliverAfter undefined', after(undefined), 'schedule.missing-value'],
  ['deliverAfter null', after(null), 'schedule.missing-value'],
  ['deliverAt undefined', at(undefined), 'schedule.missing-value'],
  ['deliverAt null', at(null), 'schedule.missing-value'],
  ['delayLevel undefined', level(undefined), 'schedule.missing-value'],
  ['discardAfter undefined', { deliverAfter: 5, discardAfter: undefined }, 'schedule.missing-value'],
  ['spread null', { deliverAfter: 5, spread: null }, 'schedule.missing-value'],
  ['discardAfter of 0', { deliverAfter: 5, discardAfter: 0 }, BAD_DURATION],
  ['discardAfter that is negative', { deliverAfter: 5, discardAfter: -1 }, BAD_DURATION],
  ['discardAfter of a message that goes at once', { discardAfter: 5 }, 'at once'],
  ['a past time within its discardAfter', { ...at(new Date(NOW - 5)), discardAfter: 5 }, 'at once'],
  ['a past time beyond its discardAfter', { ...at(new Date(NOW - 6)), discardAfter: 5 }, 'schedule.already-expired'],
  ['a spread of 0', { deliverAfter: 5, spread: 0 }, '2026-01-01T00:00:00.005Z'],
  ['a spread that is text', { deliverAfter: 5, spread: '10 minutes' }, BAD_DURATION],
  ['a spread from nothing', { spread: 5 }, 'schedule.spread-without-time'],
  ['1 ms on a grid of 100', after(1), '2026-01-01T00:00:00.100Z', { resolutionMs: 100 }],
  ['100 ms on a grid of 100', after(100), '2026-01-01T00:00:00.100Z', { resolutionMs: 100 }],
  ['101 ms on a grid of 200', after(101), '2026-01-01T00:00:00.200Z', { resolutionMs: 200 }],
  ['501 ms on a grid of 500', after(501), '2026-01-01T00:00:01.000Z', { resolutionMs: 500 }],
  ['1 ms on a grid of 1,000', after(1), '2026-01-01T00:00:01.000Z', { resolutionMs: 1_000 }],
  ['now on a grid of 1,000', after(0), 'at once', { resolutionMs: 1_000 }],
]

const tables = { numbers, parts, instants, localTimes, levels, bounds, combinations }

describe.each(Object.entries(tables))('what a sender passes, and what it gets: %s', (_name, lines) => {
  test.each(lines.map((line) => [...line]))('%s', (what, options, answer, rules = {}) => {
    const now = what.includes('over a night') ? Date.parse('2026-03-08T05:00Z') : NOW
    expect(answerTo(options, rules, now)).toBe(answer)
  })
})

test('the table has far more than ninety lines, and none twice', () => {
  const whats = Object.entries(tables).flatMap(([name, lines]) => lines.map(([what]) => `${name}: ${what}`))
  expect(whats.length).toBeGreaterThan(150)
  expect(new Set(whats).size).toBe(whats.length)
})
