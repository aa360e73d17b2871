import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hintDelaySeconds, hintServes } from '../../lib/sqs/hint-delay.js'

const NOW = 1_700_000_000_000
/** An instant of any phase within its second. */
const instants = fc.integer({ min: NOW, max: NOW + 1_000_000 })
/** How far the waker looks ahead. */
const SWEEP_MS = 2500

describe('the delay of a hint', () => {
  it('is whole seconds within what SQS takes', () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: -1_000_000, max: 130_000 }), (now, aheadMs) => {
        const seconds = hintDelaySeconds(now + aheadMs, now)
        expect(Number.isInteger(seconds) && Object.is(Math.abs(seconds ?? -1), seconds)).toBe(true)
        expect(seconds).toBeGreaterThanOrEqual(0)
        expect(seconds).toBeLessThanOrEqual(900)
      }),
    )
  })

  it('makes it visible one to two seconds before the row is due', () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: 1000, max: 130_000 }), (now, aheadMs) => {
        const leadMs = aheadMs - (hintDelaySeconds(now + aheadMs, now) ?? Number.NaN) * 1000
        expect(leadMs).toBeGreaterThanOrEqual(1000)
        expect(leadMs).toBeLessThan(2000)
      }),
    )
  })

  it('is none when the row is due within two seconds, or is late', () => {
    for (const aheadMs of [1999, 1000, 999, 1, 0, -1, -86_400_000]) expect(hintDelaySeconds(NOW + aheadMs, NOW)).toBe(0)
    expect(hintDelaySeconds(NOW + 2000, NOW)).toBe(1)
  })

  it('is given up to 130 seconds before the row is due, and not earlier', () => {
    expect(hintDelaySeconds(NOW + 130_000, NOW)).toBe(129)
    expect(hintDelaySeconds(NOW + 130_001, NOW)).toBeUndefined()
    expect(hintDelaySeconds(NOW + 365 * 86_400_000, NOW)).toBeUndefined()
  })
})

describe('a hint that serves another row', () => {
  it('is still ahead, so its look comes after the row was stored', () => {
    expect(hintServes(NOW, NOW + 1500, NOW)).toBe(false)
    expect(hintServes(NOW - 1, NOW + 1500, NOW)).toBe(false)
    expect(hintServes(NOW + 1, NOW + 1500, NOW)).toBe(true)
  })

  it('makes a look that reaches the row, at least a second before it is due', () => {
    fc.assert(
      fc.property(
        instants,
        fc.integer({ min: 1, max: 130_000 }),
        fc.integer({ min: -5000, max: 5000 }),
        (now, a, b) => {
          const visibleAt = now + a
          const dueAt = visibleAt + b
          fc.pre(hintServes(visibleAt, dueAt, now))
          expect(visibleAt).toBeGreaterThan(now)
          expect(dueAt).toBeLessThanOrEqual(visibleAt + SWEEP_MS)
          expect(dueAt - visibleAt).toBeGreaterThanOrEqual(1000)
        },
      ),
    )
  })

  it("would not, if the second of the row's own hint decided", () => {
    // Two hints visible in one second, the earlier at its start: the look of that one ends before the other row is due.
    const earlier = NOW
    const dueAt = NOW + 999 + 1999
    expect(dueAt).toBeGreaterThan(earlier + SWEEP_MS)
    expect(hintServes(earlier, dueAt, NOW - 5000)).toBe(false)
  })

  it("is what the row's own hint would be, when that lies ahead", () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: 2000, max: 130_000 }), (now, aheadMs) => {
        const visibleAt = now + (hintDelaySeconds(now + aheadMs, now) ?? Number.NaN) * 1000
        expect(hintServes(visibleAt, now + aheadMs, now)).toBe(true)
      }),
    )
  })
})
