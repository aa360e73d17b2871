/**
 * Where time comes from. Everything in Postdate that asks for the time, or waits, does so through a clock, so that tests
 * run on virtual time.
 */
export interface Clock {
  /** The present instant, epoch milliseconds. */
  now(): number
  /**
   * Calls back once, when `now()` has reached `at` (epoch milliseconds), never before, and never within this call; as soon
   * as possible if the instant has passed. Only if the clock is set back meanwhile, the call comes when the time is over
   * that was to be waited: whoever must not be early looks at the clock again.
   * @returns a function that cancels the call.
   */
  wakeAt(at: number, callback: () => void): () => void
}

/** `setTimeout` fires at once above this; longer waits are armed in steps. @see https://nodejs.org/api/timers.html */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  wakeAt(at, callback) {
    let timer: ReturnType<typeof setTimeout> | undefined
    // Node's timers fire up to 1 ms early (measured: one in nine), so the clock decides and the timer is armed again.
    const arm = () => {
      const armedAt = Date.now()
      const waitMs = at - armedAt
      timer = setTimeout(
        () => {
          const now = Date.now()
          // Set back by an hour, a clock would make an hour of a poll's second.
          const isSetBack = now < armedAt && waitMs <= LONGEST_TIMER_MS
          if (now >= at || isSetBack) callback()
          else arm()
        },
        Math.max(0, Math.min(waitMs, LONGEST_TIMER_MS)),
      )
    }
    arm()
    return () => clearTimeout(timer)
  },
}

/**
 * Resolves when the clock has reached `at` (epoch milliseconds), or as soon as the signal is aborted; never rejects.
 * @example
 * await sleepUntil(systemClock, systemClock.now() + 50)
 */
export const sleepUntil = (clock: Clock, at: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.wakeAt(at, done)
    signal?.addEventListener('abort', done)
  })
