import { expect, it } from 'vitest'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'
import { type Crossing, createProcess, type SimulatedProcess } from './process.js'

const begin = (skewMs = 0) => {
  const clock = createVirtualClock(1_000)
  const did: string[] = []
  const strikes: { strike: (process: SimulatedProcess, crossing: Crossing) => void } = { strike: () => {} }
  const process = createProcess({
    name: 'one',
    clock,
    skewMs,
    strike: (struck, crossing) => strikes.strike(struck, crossing),
  })
  const write = (ms: number) =>
    process.call(
      'write',
      () =>
        new Promise<void>((resolve) => {
          clock.wakeAt(clock.now() + ms, () => {
            did.push(`written at ${clock.now()}`)
            resolve()
          })
        }),
    )
  const say = (what: string) => () => void did.push(`${what} at ${clock.now()}`)
  return { clock, did, strikes, process, write, say }
}

it('a process that dies as a request leaves sends nothing', async () => {
  const { clock, did, strikes, process, write, say } = begin()
  strikes.strike = () => process.crash()
  void write(10).then(say('answered'))
  await clock.advanceBy(100)
  expect(did).toEqual([])
})

it('a process that dies before an answer has written and never learns of it', async () => {
  const { clock, did, process, write, say } = begin()
  void write(10).then(say('answered'))
  await clock.advanceBy(5)
  process.crash()
  await clock.advanceBy(100)
  expect(did).toEqual(['written at 1010'])
})

it('timers of a process that has died never fire, and none is pending', async () => {
  const { clock, did, process, say } = begin()
  process.clock.wakeAt(1_050, say('woken'))
  expect(process.pendingTimers()).toBe(1)
  process.crash()
  await clock.advanceBy(100)
  expect(did).toEqual([])
  expect(process.pendingTimers()).toBe(0)
  expect(clock.pendingTimers()).toBe(0)
})

it('a paused process is answered and woken after its pause, and its requests leave after it', async () => {
  const { clock, did, process, write, say } = begin()
  void write(10).then(say('answered'))
  process.clock.wakeAt(1_020, say('woken'))
  await clock.advanceBy(5)
  process.pause(200)
  void write(10).then(say('answered again'))
  await clock.advanceBy(500)
  expect(did).toEqual([
    'written at 1010',
    'answered at 1205',
    'woken at 1205',
    'written at 1215',
    'answered again at 1215',
  ])
})

it('a timer that is cancelled during a pause does not fire after it', async () => {
  const { clock, did, process, say } = begin()
  const cancel = process.clock.wakeAt(1_020, say('woken'))
  process.pause(200)
  await clock.advanceBy(100)
  cancel()
  await clock.advanceBy(500)
  expect(did).toEqual([])
})

it('a clock that is ahead tells more and wakes earlier, as its process would', async () => {
  const { clock, did, process, say } = begin(300)
  expect(process.clock.now()).toBe(1_300)
  process.clock.wakeAt(1_400, say('woken'))
  await clock.advanceBy(200)
  expect(did).toEqual(['woken at 1100'])
})
