import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sleepUntil } from '../../lib/core/clock.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'

describe('the virtual clock', () => {
  test('stands still until it is moved, and then stands exactly where it was moved to', async () => {
    const clock = createVirtualClock(1_000)
    expect(clock.now()).toBe(1_000)
    await clock.advanceBy(250)
    expect(clock.now()).toBe(1_250)
    await clock.advanceTo(5_000)
    expect(clock.now()).toBe(5_000)
  })

  test('never moves back', async () => {
    const clock = createVirtualClock(1_000)
    await clock.advanceTo(10)
    expect(clock.now()).toBe(1_000)
  })

  test('fires timers by instant and then by arming order, each at its own instant', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 30 }), async (instants) => {
        const clock = createVirtualClock(0)
        const fired: { at: number; index: number }[] = []
        for (const [index, at] of instants.entries()) {
          clock.wakeAt(at, () => {
            fired.push({ at, index })
            expect(clock.now()).toBe(at)
          })
        }
        await clock.advanceTo(20)
        const expected = instants.map((at, index) => ({ at, index })).sort((a, b) => a.at - b.at || a.index - b.index)
        expect(fired).toEqual(expected)
        expect(clock.pendingTimers()).toBe(0)
      }),
    )
  })

  test('does not fire what lies behind the instant moved to, nor what was cancelled', async () => {
    const clock = createVirtualClock(0)
    const fired: string[] = []
    clock.wakeAt(101, () => fired.push('late'))
    const cancel = clock.wakeAt(50, () => fired.push('cancelled'))
    cancel()
    cancel()
    await clock.advanceTo(100)
    expect(fired).toEqual([])
    expect(clock.pendingTimers()).toBe(1)
    await clock.advanceBy(1)
    expect(fired).toEqual(['late'])
  })

  test('lets all that follows from a timer happen before the next one fires', async () => {
    const clock = createVirtualClock(0)
    const log: string[] = []
    const sleeper = async () => {
      await sleepUntil(clock, 10)
      for (let i = 0; i < 50; i++) await Promise.resolve()
      log.push(`first, at ${clock.now()}`)
      await sleepUntil(clock, 10)
      log.push(`armed again, at ${clock.now()}`)
    }
    const sleeping = sleeper()
    clock.wakeAt(11, () => log.push('second'))
    await clock.advanceTo(20)
    await sleeping
    expect(log).toEqual(['first, at 10', 'armed again, at 10', 'second'])
  })

  test('fires what is already due without being moved', async () => {
    const clock = createVirtualClock(1_000)
    await sleepUntil(clock, 999)
    await sleepUntil(clock, 1_000)
    expect(clock.now()).toBe(1_000)
    const afterAMoveThatHadNoTime = sleepUntil(clock, 1_000)
    await clock.runUntil(Promise.resolve())
    await afterAMoveThatHadNoTime
  })

  test('runs until a promise settles, and stops at that instant', async () => {
    const clock = createVirtualClock(0)
    const done = sleepUntil(clock, 40).then(() => 'done')
    clock.wakeAt(41, () => {})
    expect(await clock.runUntil(done)).toBe('done')
    expect(clock.now()).toBe(40)
    expect(clock.pendingTimers()).toBe(1)
    await expect(clock.runUntil(Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  })

  test('says so when a promise never settles', async () => {
    const clock = createVirtualClock(0)
    const never = new Promise(() => {})
    await expect(clock.runUntil(never)).rejects.toThrow('no timer is left')
    const poll = () => clock.wakeAt(clock.now() + 1_000, poll)
    poll()
    await expect(clock.runUntil(never, { withinMs: 5_000 })).rejects.toThrow('over the limit of 5000 ms')
    expect(clock.now()).toBe(5_000)
  })

  test('refuses two moves at once, and hands an error of a callback to who moves it', async () => {
    const clock = createVirtualClock(0)
    const first = clock.advanceBy(10)
    await expect(clock.advanceBy(10)).rejects.toThrow('already being moved')
    await first
    clock.wakeAt(20, () => {
      throw new Error('from the callback')
    })
    await expect(clock.advanceTo(30)).rejects.toThrow('from the callback')
    await clock.advanceTo(30)
    expect(clock.now()).toBe(30)
  })
})
