import { type Clock, sleepUntil } from './clock.js'
import type { Dispatcher } from './dispatch/dispatcher.js'
import { reasonOf } from './errors.js'
import { LEASE_MARGIN_MS } from './lease.js'
import type { Logger, Observer } from './observation.js'
import type { Coordination, WorkerLease } from './persistence.js'
import { HINT_WITHIN_MS } from './transport.js'

/** How long a worker lease lasts, and how often it is renewed. */
const WORKER_LEASE_MS = 6_000
const RENEW_EVERY_MS = 2_000
/**
 * A newcomer takes over from an owner that stops within this: two ticks of a one-minute schedule, and 10 s. A tick that
 * declined because the owner still had that long can be followed by another before the owner stops; with less, the owner
 * would be gone before the next tick, and what falls due in between would be late.
 */
const TAKE_OVER_MS = 130_000
/** A renewal is fresh for this long: one was missed at most. */
const FRESH_MS = RENEW_EVERY_MS + 1_000
/** What the waker sweeps for, and what the last look of a leaving dispatcher is for. */
const SWEEP_AHEAD_MS = 2_500

/** One turn of a scheduled dispatcher. */
export interface WorkerTurn {
  readonly coordination: Coordination
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly logger: Logger
  readonly observe: Observer
  /** Names this process, e.g. the request id of the invocation. */
  readonly owner: string
  /** When it has to have stopped, epoch milliseconds; it drains in the time before. */
  readonly stopsAt: number
  /** `second`: stay while anything is due within 130 s. `minute`: drain and leave. @default 'second' */
  readonly mode?: 'second' | 'minute'
}

/** How a turn ended. `declined`: another was at work, and nothing was written. */
export type TurnOutcome = 'declined' | 'idle' | 'relieved' | 'out-of-time'

/**
 * A lease that ends later than any could, by any clock that is no more than the margin ahead of ours, is damaged, or that of a
 * clock gone wrong: taken for live, it would keep everything from being dispatched until then.
 */
const isCredible = ({ leaseUntil }: WorkerLease, now: number): boolean =>
  leaseUntil <= now + WORKER_LEASE_MS + LEASE_MARGIN_MS

const isLive = (worker: WorkerLease | undefined, now: number): worker is WorkerLease =>
  worker !== undefined && worker.leaseUntil > now && isCredible(worker, now)

/** Renews until told to stop; calls `onLost` when the lease is another's. What the store can't answer is tried again. */
const keepLease = (turn: WorkerTurn, taken: WorkerLease, onLost: () => void) => {
  const { coordination, clock, logger } = turn
  const stopping = new AbortController()
  let mine = taken
  const renew = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sleepUntil(clock, clock.now() + RENEW_EVERY_MS, stopping.signal)
      if (stopping.signal.aborted) return
      const next = { ...mine, leaseUntil: clock.now() + WORKER_LEASE_MS }
      try {
        if (await coordination.takeWorker(next, mine)) {
          mine = next
          continue
        }
        // The answer to an earlier renewal may have been lost: the lease is lost only if another has it.
        const seen = await coordination.readWorker()
        if (seen?.owner === mine.owner && seen.epoch === mine.epoch) mine = seen
        else return onLost()
      } catch (error) {
        logger.warn('the worker lease could not be renewed now', { owner: mine.owner, reason: reasonOf(error) })
      }
    }
  }
  const renewed = renew()
  return {
    stop: async (): Promise<WorkerLease> => {
      stopping.abort()
      await renewed
      return mine
    },
  }
}

/** Gives the worker lease back. A failure only means that it runs out by itself. */
const leave = async ({ coordination, logger }: WorkerTurn, mine: WorkerLease): Promise<void> => {
  try {
    await coordination.takeWorker({ ...mine, leaseUntil: 0 }, mine)
  } catch (error) {
    logger.warn('the worker lease could not be given back; it ends by itself', {
      owner: mine.owner,
      reason: reasonOf(error),
    })
  }
}

const takeLease = async (turn: WorkerTurn): Promise<WorkerLease | undefined> => {
  const { coordination, clock, owner, stopsAt } = turn
  const seen = await coordination.readWorker()
  const now = clock.now()
  if (isLive(seen, now) && seen.owner !== owner && seen.stopsAt - now > TAKE_OVER_MS) return undefined
  const next = { owner, epoch: (seen?.epoch ?? 0) + 1, leaseUntil: now + WORKER_LEASE_MS, stopsAt }
  return (await coordination.takeWorker(next, seen)) ? next : undefined
}

/**
 * Runs a dispatcher for one tick of its schedule. The worker lease is advice: a newcomer that finds a live owner with time
 * left leaves without a write; near the owner's end it takes over with the next epoch, and the older one drains.
 *
 * A dispatcher that leaves because nothing is near **releases first and then looks once more**. A row stored before the
 * waker's look at the lease is so seen by one of the two: if the waker found the lease live, its row was stored before the
 * release, and so before the last look.
 * @throws whatever the store throws when the lease can't be read or taken
 */
export const takeTurn = async (turn: WorkerTurn): Promise<TurnOutcome> => {
  const { dispatcher, clock, observe, owner, stopsAt, mode = 'second' } = turn
  const taken = await takeLease(turn)
  if (taken === undefined) return 'declined'
  const { epoch } = taken
  observe({ type: 'worker-started', owner, epoch })
  const stopping = new AbortController()
  const ending: { as: TurnOutcome } = { as: 'idle' }
  const end = (as: TurnOutcome) => {
    if (!stopping.signal.aborted) ending.as = as
    stopping.abort()
  }
  const cancel = clock.wakeAt(stopsAt, () => end('out-of-time'))
  const lease = keepLease(turn, taken, () => {
    observe({ type: 'worker-relieved', owner, epoch })
    end('relieved')
  })
  const endLease = async () => {
    const mine = await lease.stop()
    if (ending.as === 'relieved') return
    await leave(turn, mine)
    observe({ type: 'worker-left', owner, epoch })
  }
  const { signal } = stopping
  try {
    const leaveWhenIdleMs = mode === 'second' ? HINT_WITHIN_MS : 0
    await dispatcher.run({ signal, finishHand: true, leaveWhenIdleMs }).finally(endLease)
    if (signal.aborted) return ending.as
    const lastLookMs = mode === 'second' ? SWEEP_AHEAD_MS : 0
    await dispatcher.run({ signal, finishHand: true, leaveWhenIdleMs: lastLookMs })
  } finally {
    cancel()
  }
  return ending.as
}

/** A worker that stops before what the hint is about falls due leaves without another look. */
const isAtWork = (worker: WorkerLease, now: number): boolean =>
  now < worker.leaseUntil - WORKER_LEASE_MS + FRESH_MS &&
  now + 2 * SWEEP_AHEAD_MS < worker.stopsAt &&
  isCredible(worker, now)

/**
 * Answers a wake hint: returns at once when a dispatcher is at work, has renewed its lease lately and has time left, else
 * sweeps that shard once, for what is due within 2.5 s.
 * @throws whatever the store throws when the lease can't be read
 */
export const answerHint = async (hint: {
  readonly coordination: Coordination
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly shard: number
  readonly signal: AbortSignal
}): Promise<'left-to-worker' | 'swept'> => {
  const { coordination, dispatcher, clock, shard, signal } = hint
  const worker = await coordination.readWorker()
  if (worker !== undefined && isAtWork(worker, clock.now())) return 'left-to-worker'
  const ahead = { lookAheadMs: SWEEP_AHEAD_MS, leaveWhenIdleMs: SWEEP_AHEAD_MS }
  await dispatcher.run({ signal, finishHand: true, shards: [shard], ...ahead })
  return 'swept'
}
