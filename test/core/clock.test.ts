import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { sleepUntil, systemClock } from '../../lib/core/clock.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'

const LONGEST_TIMER_MS = 2 ** 31 - 1

interface Armed {
  readonly ms: number
  readonly fire: () => void
}

/** A machine whose timers the test fires when it likes, early ones included, and whose time it sets. */
const setUpMachine = (startAt: number) => {
  const machine = { now: startAt, armed: [] as (Armed | undefined)[] }
  vi.spyOn(Date, 'now').mockImplementation(() => machine.now)
  vi.stubGlobal('setTimeout', (fire: () => void, ms: number) => machine.armed.push({ ms, fire }) - 1)
  vi.stubGlobal('clearTimeout', (id: number | undefined) => {
    if (id !== undefined) machine.armed[id] = undefined
  })
  /** Fires the one armed timer after so many milliseconds, early or not. */
  const fireAfter = (ms: number) => {
    machine.now += ms
    const index = machine.armed.findIndex((one) => one !== undefined)
    const timer = machine.armed[index]
    machine.armed[index] = undefined
    timer?.fire()
  }
  return { machine, fireAfter, pending: () => machine.armed.filter((one) => one !== undefined) }
}

describe('the clock of the machine', () => {
  beforeEach(() => {
    vi.restoreAllMocks()
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })

  test('calls back at the instant or later and never before, however early its timers fire', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -10, max: 10 ** 11 }),
        fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 8 }),
        (waitMs, earlyBy) => {
          const startAt = 1_900_000_000_000
          const { machine, fireAfter, pending } = setUpMachine(startAt)
          const at = startAt + waitMs
          const calls: number[] = []
          systemClock.wakeAt(at, () => calls.push(machine.now))
          expect(calls).toEqual([])
          for (let turn = 0; calls.length === 0 && turn < 1_000; turn++) {
            const [timer] = pending()
            expect(pending()).toHaveLength(1)
            expect(timer?.ms).toBeGreaterThanOrEqual(0)
            expect(timer?.ms).toBeLessThanOrEqual(LONGEST_TIMER_MS)
            fireAfter(Math.max(0, (timer?.ms ?? 0) - (earlyBy[turn] ?? 0)))
          }
          expect(calls).toHaveLength(1)
          expect(calls[0]).toBeGreaterThanOrEqual(at)
          expect(pending()).toEqual([])
          vi.unstubAllGlobals()
          vi.restoreAllMocks()
        },
      ),
    )
  })

  test('waits longer than 2^31 ms in steps, where one timer would fire at once', () => {
    const { machine, fireAfter, pending } = setUpMachine(0)
    const at = 2 * LONGEST_TIMER_MS + 1_000
    const calls: number[] = []
    systemClock.wakeAt(at, () => calls.push(machine.now))
    const steps: number[] = []
    while (calls.length === 0) {
      const ms = pending()[0]?.ms ?? 0
      steps.push(ms)
      fireAfter(ms)
    }
    expect(steps).toEqual([LONGEST_TIMER_MS, LONGEST_TIMER_MS, 1_000])
    expect(calls).toEqual([at])
  })

  test('never calls back once it was cancelled, also between two steps', () => {
    const { machine, fireAfter, pending } = setUpMachine(0)
    const calls: number[] = []
    const cancel = systemClock.wakeAt(2 * LONGEST_TIMER_MS, () => calls.push(machine.now))
    fireAfter(LONGEST_TIMER_MS)
    cancel()
    expect(pending()).toEqual([])
    expect(calls).toEqual([])
  })

  test('that is set back by an hour makes no hour of a second’s wait', () => {
    const startAt = 1_900_000_000_000
    const { machine, fireAfter, pending } = setUpMachine(startAt)
    const calls: number[] = []
    systemClock.wakeAt(startAt + 1_000, () => calls.push(machine.now))
    machine.now -= 3_600_000
    fireAfter(1_000)
    expect(calls).toEqual([startAt - 3_599_000])
    expect(pending()).toEqual([])
  })

  test('calls back soon for an instant that has passed, but never within the call', async () => {
    const order: string[] = []
    const called = new Promise<void>((resolve) => {
      systemClock.wakeAt(systemClock.now() - 1_000, () => {
        order.push('called back')
        resolve()
      })
    })
    order.push('armed')
    await called
    expect(order).toEqual(['armed', 'called back'])
  })
})

describe('a sleep', () => {
  test('lasts until its instant', async () => {
    const clock = createVirtualClock(0)
    const slept = sleepUntil(clock, 250).then(() => clock.now())
    await clock.advanceBy(1_000)
    expect(await slept).toBe(250)
  })

  test('ends at once when it is aborted, before or while it sleeps, and leaves no timer', async () => {
    const clock = createVirtualClock(0)
    const abort = new AbortController()
    const sleeping = sleepUntil(clock, 60_000, abort.signal)
    abort.abort()
    await sleeping
    await sleepUntil(clock, 60_000, abort.signal)
    expect(clock.now()).toBe(0)
    expect(clock.pendingTimers()).toBe(0)
  })
})
