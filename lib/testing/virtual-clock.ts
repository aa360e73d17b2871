import type { Clock } from '../core/clock.js'

/** A clock that stands still until a test moves it. Timers fire in the order of their instants, then of their arming. */
export interface VirtualClock extends Clock {
  /**
   * Moves on by so many milliseconds, firing what falls due on the way. After each timer, all that follows from it without
   * waiting runs before the next one fires.
   */
  advanceBy(ms: number): Promise<void>
  /** Moves on to an instant, epoch milliseconds; one that has passed only fires what is due now. */
  advanceTo(at: number): Promise<void>
  /**
   * Moves on from timer to timer until the promise settles, and answers as it does.
   * @param options.withinMs how far to move at most. @default one day
   * @throws Error when no timer is left, or the limit is reached, and the promise has not settled.
   * @example
   * await clock.runUntil(sleepUntil(clock, clock.now() + 60_000))
   */
  runUntil<T>(promise: Promise<T>, options?: { readonly withinMs?: number }): Promise<T>
  /** How many timers are armed: 0 means that nothing is left behind. */
  pendingTimers(): number
}

interface Timer {
  readonly at: number
  readonly order: number
  readonly callback: () => void
}

/** Where a virtual clock starts by default: a round instant of no meaning. */
const DEFAULT_START_AT = Date.UTC(2030, 0, 1)
const DAY_MS = 24 * 60 * 60 * 1000

// Taken at load, so that a test runner's fake timers don't stop the virtual ones.
const realSetImmediate = setImmediate

/** Lets everything run that waits for nothing but promises: an immediate comes after all microtasks. */
const flush = () => new Promise<void>((resolve) => realSetImmediate(resolve))

const isBefore = (one: Timer, other: Timer) => one.at < other.at || (one.at === other.at && one.order < other.order)

/** Timers, the next one last, so that taking it is cheap. */
const createTimerList = () => {
  const timers: Timer[] = []
  const positionOf = (timer: Timer): number => {
    let low = 0
    let high = timers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = timers[middle]
      if (other !== undefined && isBefore(timer, other)) low = middle + 1
      else high = middle
    }
    return low
  }
  return {
    size: () => timers.length,
    next: () => timers.at(-1),
    add: (timer: Timer) => {
      timers.splice(positionOf(timer), 0, timer)
    },
    /** Answers whether it was still there. */
    remove: (timer: Timer): boolean => {
      const position = positionOf(timer)
      if (timers[position] !== timer) return false
      timers.splice(position, 1)
      return true
    },
  }
}

/**
 * Makes a clock that a test moves.
 * @param startAt epoch milliseconds. @default 2030-01-01T00:00:00Z
 */
export const createVirtualClock = (startAt: number = DEFAULT_START_AT): VirtualClock => {
  const timers = createTimerList()
  let now = startAt
  let armed = 0
  let isMoving = false

  const fire = (timer: Timer) => {
    timers.remove(timer)
    now = Math.max(now, timer.at)
    timer.callback()
  }

  /** What is due already needs no move, as on the machine's clock; during a move it takes its turn among the others. */
  const fireDueSoon = () => {
    const isDue = () => !isMoving && (timers.next()?.at ?? Number.POSITIVE_INFINITY) <= now
    if (!isDue()) return
    realSetImmediate(() => {
      const timer = timers.next()
      if (timer === undefined || !isDue()) return
      try {
        fire(timer)
      } finally {
        fireDueSoon()
      }
    })
  }

  /** Fires timer after timer until none is left up to `limitAt`, or the work is done. */
  const move = async (limitAt: number, isDone: () => boolean): Promise<void> => {
    if (isMoving) throw new Error('the virtual clock is already being moved; await one move before the next')
    isMoving = true
    try {
      await flush()
      for (let timer = timers.next(); timer !== undefined && timer.at <= limitAt && !isDone(); timer = timers.next()) {
        fire(timer)
        await flush()
      }
    } finally {
      isMoving = false
      fireDueSoon()
    }
  }

  const advanceTo = async (at: number) => {
    const until = Math.max(now, at)
    await move(until, () => false)
    now = until
  }

  return {
    now: () => now,
    wakeAt: (at, callback) => {
      const timer: Timer = { at: Math.max(at, now), order: armed++, callback }
      timers.add(timer)
      fireDueSoon()
      return () => {
        timers.remove(timer)
      }
    },
    advanceTo,
    advanceBy: (ms) => advanceTo(now + ms),
    runUntil: async (promise, { withinMs = DAY_MS } = {}) => {
      let isSettled = false
      const settled = () => {
        isSettled = true
      }
      promise.then(settled, settled)
      const startedAt = now
      await move(startedAt + withinMs, () => isSettled)
      if (isSettled) return promise
      const next = timers.next()
      const why =
        next === undefined ? 'no timer is left' : `the next timer is at ${next.at}, over the limit of ${withinMs} ms`
      throw new Error(`the promise did not settle by ${now} (started at ${startedAt}): ${why}`)
    },
    pendingTimers: () => timers.size(),
  }
}
