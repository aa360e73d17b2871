import type { Clock } from '../clock.js'

/** A sleep that can be ended early. */
export interface Sleep {
  /** Resolves when the clock has reached `at` (epoch milliseconds), on abort, or when nudged. */
  until(at: number, signal: AbortSignal): Promise<void>
  /** Ends the sleep now. */
  nudge(): void
  /** Ends the sleep at this instant (epoch milliseconds) if it would last longer. */
  notLaterThan(at: number): void
}

/** Makes a sleep for one sleeper. */
export const createSleep = (clock: Clock): Sleep => {
  let sleeping: { until: number; cancel: () => void; wake: () => void } | undefined
  const wake = () => sleeping?.wake()
  return {
    until: (at, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve()
        const awake = () => {
          sleeping?.cancel()
          sleeping = undefined
          signal.removeEventListener('abort', awake)
          resolve()
        }
        signal.addEventListener('abort', awake)
        sleeping = { until: at, cancel: clock.wakeAt(at, awake), wake: awake }
      }),
    nudge: wake,
    notLaterThan: (at) => {
      if (sleeping === undefined || sleeping.until <= at) return
      sleeping.cancel()
      sleeping.until = at
      sleeping.cancel = clock.wakeAt(at, sleeping.wake)
    },
  }
}
