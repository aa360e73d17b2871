import type { Clock } from '../../lib/core/clock.js'

/** Where code of a process waits, or is about to: a request leaves, an answer comes back, a timer fires. */
export type Crossing = 'request' | 'answer' | 'timer'

/** Chance strikes at a crossing: it may crash or pause the process. `operation` is what a request is for. */
export type Mishap = (process: SimulatedProcess, crossing: Crossing, operation: string) => void

/**
 * A process of the simulation: code that meets the world only through this gate. Once it has crashed, no call answers, no
 * timer fires, and nothing that it still tries to send leaves; a request that had left goes on without it. While it is
 * paused, everything is held, and goes on after it as if no time had passed: requests leave late, old answers are believed.
 */
export interface SimulatedProcess {
  readonly name: string
  /** Its own clock, off by `skewMs` from the world's; timers fire by it. */
  readonly clock: Clock
  /** How far its clock is ahead of the world's, in milliseconds. */
  readonly skewMs: number
  readonly isRunning: () => boolean
  readonly isAlive: () => boolean
  /** Sends a request out into the world; the answer comes back in unless the process has crashed by then. */
  call<T>(operation: string, transmit: () => Promise<T>): Promise<T>
  /** Lets an event in: now, after the pause, or never. */
  receive(event: () => void): void
  /** Ends it, this instant and for ever. */
  crash(): void
  /** Stops it for so long. */
  pause(ms: number): void
  /** Timers that its code has armed and that have neither fired nor been cancelled. */
  pendingTimers(): number
}

/** Makes a process that runs. `strike` is called at every crossing. */
export const createProcess = (parts: {
  readonly name: string
  readonly clock: Clock
  readonly skewMs: number
  readonly strike: Mishap
}): SimulatedProcess => {
  const { name, clock, skewMs, strike } = parts
  const timers = new Set<() => void>()
  let isAlive = true
  let resumesAt: number | undefined
  let held: (() => void)[] = []

  const receive = (event: () => void): void => {
    if (!isAlive) return
    if (resumesAt === undefined) event()
    else held.push(event)
  }

  const cross = (crossing: Crossing, operation: string, event: () => void): void => {
    if (isAlive && resumesAt === undefined) strike(process, crossing, operation)
    receive(event)
  }

  const process: SimulatedProcess = {
    name,
    skewMs,
    clock: {
      now: () => clock.now() + skewMs,
      wakeAt: (at, callback) => {
        let isCancelled = false
        const fire = () => {
          if (isCancelled) return
          timers.delete(cancel)
          callback()
        }
        const cancelTimer = clock.wakeAt(at - skewMs, () => cross('timer', 'wake', fire))
        const cancel = () => {
          isCancelled = true
          cancelTimer()
          timers.delete(cancel)
        }
        timers.add(cancel)
        return cancel
      },
    },
    isRunning: () => isAlive && resumesAt === undefined,
    isAlive: () => isAlive,
    call: (operation, transmit) =>
      new Promise((resolve, reject) => {
        cross('request', operation, () => {
          transmit().then(
            (answer) => cross('answer', operation, () => resolve(answer)),
            (error: unknown) => cross('answer', operation, () => reject(error)),
          )
        })
      }),
    receive,
    crash: () => {
      isAlive = false
      held = []
      for (const cancel of [...timers]) cancel()
    },
    pause: (ms) => {
      const until = clock.now() + ms
      resumesAt = until
      clock.wakeAt(until, () => {
        if (resumesAt !== until) return
        resumesAt = undefined
        const events = held
        held = []
        // Each in a turn of its own, as an event loop would take them; one may pause the process again.
        for (const event of events) clock.wakeAt(until, () => receive(event))
      })
    },
    pendingTimers: () => timers.size,
  }
  return process
}
