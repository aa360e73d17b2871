import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatHandle, parseHandle } from '../../lib/core/handle.js'
import { formatInstant, LATEST_INSTANT } from '../../lib/core/lease.js'
import { type AskedSchedule, roundUp, settleDueAt } from '../../lib/core/schedule/due-instant.js'
import { durationMs } from '../../lib/core/schedule/duration.js'
import { readInstant } from '../../lib/core/schedule/instant.js'
import { readSchedule, type ScheduleRules } from '../../lib/core/schedule.js'
import { dueKey } from '../../lib/dynamodb/keys.js'
import { sortKeyOf } from '../../lib/memory/rows.js'
import { temporalDuration, temporalInstant } from '../core/temporal-shapes.js'

const DAY_MS = 86_400_000
const TEN_YEARS_MS = 10 * 365.25 * DAY_MS
const LEVELS_MS = [1_000, 60_000, 7_200_000]

const anyNow = fc.integer({ min: 0, max: Date.UTC(2100, 0) })
const anyResolution = fc.constantFrom(1, 100, 200, 500, 1_000)
const rulesOf = (resolutionMs: number): ScheduleRules => ({
  horizonMs: TEN_YEARS_MS,
  pastDue: 'send',
  delayLevelsMs: LEVELS_MS,
  resolutionMs,
})

const MS_OF = { days: DAY_MS, hours: 3_600_000, minutes: 60_000, seconds: 1_000, milliseconds: 1 }
const wholePart = fc.nat(1_000)
const anyParts = fc.record(
  { days: wholePart, hours: wholePart, minutes: wholePart, seconds: wholePart, milliseconds: wholePart },
  { requiredKeys: ['days'] },
)
const sumOf = (parts: Partial<Record<keyof typeof MS_OF, number>>) =>
  Object.entries(MS_OF).reduce((sum, [name, ms]) => sum + (parts[name as keyof typeof MS_OF] ?? 0) * ms, 0)

/** A form with the instant that it asks for, given the present one; the instant may be a fraction. */
const anyForm = fc.oneof(
  fc.double({ min: 0, max: TEN_YEARS_MS - 2_000, noNaN: true }).map((ms) => ({
    options: () => ({ deliverAfter: ms }),
    asks: (now: number) => now + ms,
  })),
  anyParts.map((parts) => ({ options: () => ({ deliverAfter: parts }), asks: (now: number) => now + sumOf(parts) })),
  anyParts.map((parts) => ({
    options: () => ({ deliverAfter: temporalDuration(parts) }),
    asks: (now: number) => now + sumOf(parts),
  })),
  fc.integer({ min: -DAY_MS, max: 300 * DAY_MS }).map((ms) => ({
    options: (now: number) => ({ deliverAt: new Date(now + ms) }),
    asks: (now: number) => now + ms,
  })),
  fc.double({ min: -DAY_MS, max: 300 * DAY_MS, noNaN: true }).map((ms) => ({
    options: (now: number) => ({ deliverAt: { epochMilliseconds: now + ms } }),
    asks: (now: number) => now + ms,
  })),
  fc.integer({ min: 1, max: LEVELS_MS.length }).map((delayLevel) => ({
    options: () => ({ delayLevel }),
    asks: (now: number) => now + (LEVELS_MS[delayLevel - 1] ?? 0),
  })),
)

const settle = (asked: AskedSchedule, now: number, resolutionMs: number, messageId = 'message-1') =>
  settleDueAt(asked, messageId, now, resolutionMs)

describe('a due instant', () => {
  test('is never before the one asked for, on the grid, and at the first point of it', () => {
    fc.assert(
      fc.property(anyForm, anyNow, anyResolution, (form, now, resolutionMs) => {
        const dueAt = settle(readSchedule(form.options(now), now, rulesOf(resolutionMs)), now, resolutionMs)
        const asked = form.asks(now)
        if (dueAt === undefined) expect(asked).toBeLessThanOrEqual(now)
        else {
          expect(Number.isSafeInteger(dueAt)).toBe(true)
          expect(dueAt).toBeGreaterThanOrEqual(asked)
          expect(dueAt).toBeGreaterThan(now)
          expect(dueAt % resolutionMs).toBe(0)
          expect(dueAt).toBeLessThan(asked + 1 + resolutionMs)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test('with a spread lies within it, on the grid if any of it does, and is the same every time', () => {
    const anySpread = fc.nat(2 * DAY_MS)
    fc.assert(
      fc.property(anyNow, fc.nat(DAY_MS), anySpread, anyResolution, fc.uuid(), (now, after, spread, resolution, id) => {
        const read = () => readSchedule({ deliverAfter: after + 1, spread }, now, rulesOf(resolution))
        const dueAt = settle(read(), now, resolution, id) ?? Number.NaN
        const first = now + after + 1
        expect(dueAt).toBeGreaterThanOrEqual(first)
        expect(dueAt % resolution).toBe(0)
        // Where no point of the grid lies in the spread, it is the next one.
        expect(dueAt).toBeLessThanOrEqual(Math.max(first + spread, roundUp(first, resolution)))
        expect(settle(read(), now, resolution, id)).toBe(dueAt)
      }),
      { numRuns: 1_000 },
    )
  })

  test('with a spread is spread evenly: no tenth of it has less than half or more than twice its share', () => {
    const tenths = new Array<number>(10).fill(0)
    const asked = readSchedule({ deliverAfter: 1, spread: 9_999 }, 0, rulesOf(1))
    for (let number = 0; number < 2_000; number++) {
      const dueAt = settle(asked, 0, 1, `order-${number}`) ?? 0
      const tenth = Math.floor((dueAt - 1) / 1_000)
      tenths[tenth] = (tenths[tenth] ?? 0) + 1
    }
    expect(tenths).toHaveLength(10)
    for (const count of tenths) {
      expect(count).toBeGreaterThan(100)
      expect(count).toBeLessThan(400)
    }
  })

  test('reaches the horizon and never beyond it, whatever the id chooses of a spread', () => {
    fc.assert(
      fc.property(anyNow, fc.nat(10_000), fc.integer({ min: -2, max: 2 }), (now, spread, beyond) => {
        const options = { deliverAfter: TEN_YEARS_MS - spread + beyond, spread }
        const read = () => readSchedule(options, now, rulesOf(1))
        if (beyond > 0) expect(read).toThrow(expect.objectContaining({ code: 'schedule.beyond-horizon' }))
        else expect(read().askedAt).toBe(now + TEN_YEARS_MS - spread + beyond)
      }),
    )
  })
})

describe('a duration', () => {
  test('is the exact sum of its parts, rounded up, in whatever shape it comes', () => {
    fc.assert(
      fc.property(anyParts, fc.nat(2_000_000), (parts, nanoseconds) => {
        const exact = BigInt(sumOf(parts)) * 1_000_000n + BigInt(nanoseconds)
        const expected = Number((exact + 999_999n) / 1_000_000n)
        expect(durationMs('deliverAfter', { ...parts, nanoseconds })).toBe(expected)
        expect(durationMs('deliverAfter', temporalDuration({ ...parts, nanoseconds }))).toBe(expected)
      }),
    )
  })

  test('written with decimals is what is written: 0.1 s are 100 ms', () => {
    fc.assert(
      fc.property(fc.nat(10 ** 9), (thousandths) => {
        expect(durationMs('deliverAfter', { seconds: Number(`${thousandths}e-3`) })).toBe(thousandths)
        expect(durationMs('deliverAfter', { milliseconds: Number(`${thousandths}e-3`) })).toBe(
          Math.ceil(thousandths / 1_000),
        )
      }),
    )
  })

  test('of any value is a whole number from 0 or a typed refusal', () => {
    fc.assert(
      fc.property(fc.oneof(fc.double(), fc.anything({ withBigInt: true, withDate: true, withMap: true })), (value) => {
        try {
          const ms = durationMs('deliverAfter', value)
          expect(Number.isSafeInteger(ms) && ms >= 0).toBe(true)
        } catch (error) {
          expect(error).toMatchObject({ code: 'schedule.invalid-duration' })
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('an instant', () => {
  test("of Temporal's precision rounds up to its millisecond, before 1970 as well", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), (nanoseconds) => {
        const at = readInstant(temporalInstant(nanoseconds))
        expect(BigInt(at) * 1_000_000n).toBeGreaterThanOrEqual(nanoseconds)
        expect(BigInt(at - 1) * 1_000_000n).toBeLessThan(nanoseconds)
      }),
    )
  })

  test('of any value is a whole number or a typed refusal', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true }), (value) => {
        try {
          expect(Number.isSafeInteger(readInstant(value))).toBe(true)
        } catch (error) {
          expect(error).toMatchObject({ code: 'schedule.invalid-instant' })
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('keys', () => {
  const anyInstant = fc.integer({ min: 0, max: LATEST_INSTANT })

  test.each([
    ['in DynamoDB', (dueAt: number, rowId: string) => dueKey({ shard: 0, dueAt, rowId }).sk],
    ['in memory', (dueAt: number, rowId: string) => sortKeyOf({ shard: 0, dueAt, rowId })],
  ])('of rows %s are in the order of their instants, up to the latest one', (_store, keyOf) => {
    const nearby = fc.tuple(anyInstant, fc.integer({ min: -2, max: 2 })).map(([at, by]): [number, number] => {
      const other = Math.min(LATEST_INSTANT, Math.max(0, at + by))
      return [at, other]
    })
    fc.assert(
      fc.property(fc.oneof(fc.tuple(anyInstant, anyInstant), nearby), fc.uuid(), fc.uuid(), ([one, other], a, b) => {
        if (one !== other) expect(keyOf(one, a) < keyOf(other, b)).toBe(one < other)
        expect(Number(formatInstant(one))).toBe(one)
        expect(formatInstant(one)).toHaveLength(15)
      }),
      { numRuns: 1_000 },
    )
  })

  test('in a handle come back from its text, up to the latest instant', () => {
    fc.assert(
      fc.property(anyInstant, fc.nat(1_000), fc.uuid(), (dueAt, shard, rowId) => {
        const address = { bus: 'orders', shard, dueAt, rowId }
        expect(parseHandle(formatHandle(address))).toEqual(address)
      }),
    )
  })
})
