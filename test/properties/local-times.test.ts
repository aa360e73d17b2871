import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readLocalTime } from '../../lib/core/schedule/local-time.js'

const ZONES = [
  'UTC',
  'America/New_York',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Africa/Casablanca',
  'Europe/Dublin',
  'America/Sao_Paulo',
  'Antarctica/Troll',
]

/** What clocks of a place show, to the millisecond: the inverse of reading a local time, by another way through Intl. */
const showLocal = (at: number, timeZone: string): string => {
  const shown = new Date(at).toLocaleString('sv-SE', { timeZone })
  return `${shown.replace(' ', 'T')}.${String(at % 1_000).padStart(3, '0')}`
}

/** Places, and instants at which their clocks are put forward or back. */
const CHANGES: readonly (readonly [timeZone: string, at: string])[] = [
  ['America/New_York', '2026-03-08T07:00Z'],
  ['America/New_York', '2026-11-01T06:00Z'],
  ['America/St_Johns', '2026-03-08T05:30Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
  ['Europe/Dublin', '2026-10-25T01:00Z'],
  ['Antarctica/Troll', '2026-03-29T01:00Z'],
  ['Antarctica/Troll', '2026-10-25T01:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00Z'],
]

/** A place and an instant: half of them within hours of a change of its clocks. */
const anyPlaceAndInstant = fc.oneof(
  fc.tuple(fc.constantFrom(...ZONES), fc.integer({ min: Date.UTC(1971, 0), max: Date.UTC(2037, 0) })),
  fc
    .tuple(fc.constantFrom(...CHANGES), fc.integer({ min: -3 * 3_600_000, max: 3 * 3_600_000 }))
    .map(([[timeZone, at], by]): [string, number] => [timeZone, Date.parse(at) + by]),
)

describe('a local time', () => {
  test('formatted from an instant and read again is that instant, or the other that shows the same', () => {
    let repeated = 0
    fc.assert(
      fc.property(anyPlaceAndInstant, ([timeZone, at]) => {
        const local = showLocal(at, timeZone)
        const first = readLocalTime({ local, timeZone, ifMissing: 'reject' })
        const second = readLocalTime({ local, timeZone, ifMissing: 'reject', ifAmbiguous: 'second' })
        if (first !== second) repeated++
        expect([first, second]).toContain(at)
        expect(first).toBeLessThanOrEqual(second)
        expect([showLocal(first, timeZone), showLocal(second, timeZone)]).toEqual([local, local])
      }),
      { numRuns: 2_000 },
    )
    expect(repeated).toBeGreaterThan(50)
  })

  test('that no clock shows is taken for one right after the change, or right before it', () => {
    let missing = 0
    fc.assert(
      fc.property(anyPlaceAndInstant, fc.nat(3_600_000), ([timeZone, at], later) => {
        // Later on the clock, which may be over a change.
        const wall = Date.parse(`${showLocal(at, timeZone)}Z`) + later
        const local = new Date(wall).toISOString().slice(0, -1)
        const read = (ifMissing: string) => readLocalTime({ local, timeZone, ifMissing })
        const [forward, backward] = [read('forward'), read('backward')]
        if (showLocal(forward, timeZone) === local) {
          expect(backward).toBe(forward)
          return
        }
        missing++
        expect(() => read('reject')).toThrow(expect.objectContaining({ code: 'schedule.missing-local-time' }))
        expect(showLocal(forward, timeZone) > local).toBe(true)
        expect(showLocal(backward, timeZone) < local).toBe(true)
        // What lies between the two is what the clocks skip.
        const skipped = Date.parse(`${showLocal(forward, timeZone)}Z`) - Date.parse(`${showLocal(backward, timeZone)}Z`)
        expect(skipped).toBe(2 * (forward - backward))
      }),
      { numRuns: 2_000 },
    )
    expect(missing).toBeGreaterThan(20)
  })
})
