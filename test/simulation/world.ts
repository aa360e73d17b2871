import { LEASE_MARGIN_MS } from '../../lib/core/lease.js'
import type { VirtualClock } from '../../lib/testing/virtual-clock.js'
import type { Faults } from './faults.js'
import type { History } from './history.js'
import type { SimulatedProcess } from './process.js'
import type { Random } from './random.js'
import type { Trace } from './trace.js'

/** What everything in a simulation shares. */
export interface World {
  readonly clock: VirtualClock
  /** Chance in what happens, other than faults. */
  readonly random: Random
  readonly faults: Faults
  readonly history: History
  readonly trace: Trace
  /** The longest that a call usually takes on one of its two ways. */
  readonly usualMs: number
  /** How long a publish may take until it is a time-out. */
  readonly publishTimeoutMs: number
  /** A claim that takes longer than this is given up: it could not be published any more. */
  readonly usefulMs: number
  /** A pause that outlasts any lease. */
  readonly longPauseMs: number
  /** Requests that were answered with an error and are still to be applied. */
  late: number
}

/** A call on its way: by whom, and about which messages. */
export interface Journey {
  readonly process: SimulatedProcess
  readonly messageIds: readonly string[]
  /** The longest way. @default 15 s when it is slow */
  readonly atMostMs?: number
}

/** Lets the world's time pass. Each journey ends in a turn of its own, so no two calls touch the store in one. */
export const wait = ({ clock }: World, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.wakeAt(clock.now() + ms, resolve)
  })

/** Does something later, behind the back of whoever asked for it. */
export const doLater = async (world: World, ms: number, act: () => unknown): Promise<void> => {
  world.late++
  await wait(world, ms)
  await act()
  world.late--
}

const SLOWEST_MS = 15_000

/** One way through the network: some milliseconds, and now and then some seconds. */
export const travel = (world: World, { process, messageIds, atMostMs = SLOWEST_MS }: Journey): Promise<void> => {
  const about = { process: process.name, messageIds: [...messageIds] }
  const isSlow = world.faults.draw('slow-call', messageIds.length > 0 ? 0.04 : 0.005, about) !== undefined
  const longest = Math.min(isSlow ? SLOWEST_MS : world.usualMs, atMostMs)
  return wait(world, world.random.integer(isSlow ? Math.min(500, longest) : 1, longest))
}

/** The clocks of two processes differ by less than the margin: each by less than half of it from the world's. */
export const MOST_SKEW_MS = LEASE_MARGIN_MS / 2 - 500
