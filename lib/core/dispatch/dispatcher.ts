import type { Clock } from '../clock.js'
import { isPostdateError, PostdateError, reasonOf } from '../errors.js'
import { LEASE_MARGIN_MS } from '../lease.js'
import type { Observer } from '../observation.js'
import type { ClaimResult, DelayingPersistence } from '../persistence.js'
import type { Transport } from '../transport.js'
import { createHand } from './hand.js'
import { createSettling } from './settling.js'
import { createSleep } from './sleep.js'
import { watchTopic } from './topic-health.js'

/** How a dispatcher works; every default suits a Lambda of 256 MB and a process that shares its host. */
export interface DispatchOptions {
  /** How often it looks at the due rows, at least. @default 1,000 */
  readonly pollMs?: number
  /** How far ahead it claims, so as to publish at the exact millisecond. @default 1,000 */
  readonly lookAheadMs?: number
  /** How long a claim lasts; more than the margin and the time-out of a publish together. @default 30,000 */
  readonly leaseMs?: number
  /** The transport's own time-out of a publish; no publish starts that could outlast its lease. @default 5,000 */
  readonly publishTimeoutMs?: number
  /** The most claims in hand. @default 1,000 */
  readonly maxInHand?: number
  /** The most bytes of envelopes in hand; one message is always allowed. @default 32 MiB */
  readonly maxInHandBytes?: number
  /** The most publish requests at once. @default 8 */
  readonly maxPublishing?: number
}

/** What a dispatcher works with. */
export interface DispatcherParts extends DispatchOptions {
  readonly persistence: DelayingPersistence
  readonly transport: Transport
  readonly clock: Clock
  readonly observe: Observer
}

/** One run of a dispatcher. */
export interface DispatchRun {
  /** Aborted: claim nothing more, give back what is not being published, and end. */
  readonly signal: AbortSignal
  /** End by itself when nothing may fall due within this. 0 drains what is due. @default never */
  readonly leaveWhenIdleMs?: number
  /** The shards to look at. @default all */
  readonly shards?: readonly number[]
  /** @default that of the dispatcher */
  readonly lookAheadMs?: number
}

/** Claims due rows, publishes each at its due instant, and settles it. The same in a Lambda, a started bus and a test. */
export interface Dispatcher {
  /** Runs until it is aborted or idle; resolves when nothing is in hand. Never rejects for what a store or topic does. One run at a time. */
  run(run: DispatchRun): Promise<void>
  /** Tells of a row that this process has just stored, so that it isn't found only by the next poll. Epoch milliseconds. */
  expect(dueAt: number): void
}

/** Looks begin this long before the next known due instant, so that its claim is done when it falls due. */
const CLAIM_AHEAD_MS = 250
/** The shortest time between two looks that find nothing to do. */
const SHORTEST_GAP_MS = 50
/** The most rows claimed by one look: the next one runs while these are published. */
const CLAIM_LIMIT = 250
/** A full hand claims again once it has room for one write request of the store. */
const WORTH_CLAIMING = 25

const NOTHING: ClaimResult = { claims: [], nextDueAt: undefined, more: false }

/**
 * Makes a dispatcher.
 * @throws PostdateError `options.invalid` when the lease is too short for a publish
 */
export const createDispatcher = (parts: DispatcherParts): Dispatcher => {
  const { persistence, transport, clock, observe } = parts
  const { pollMs = 1_000, leaseMs = 30_000, publishTimeoutMs = 5_000 } = parts
  const { maxInHand = 1_000, maxInHandBytes = 32 * 1024 * 1024, maxPublishing = 8 } = parts
  const shortestLeaseMs = LEASE_MARGIN_MS + publishTimeoutMs + (parts.lookAheadMs ?? 1_000)
  if (leaseMs <= shortestLeaseMs) {
    const rule = `it must exceed margin, publish time-out and look-ahead together, ${shortestLeaseMs}`
    throw new PostdateError('options.invalid', { option: 'leaseMs', value: String(leaseMs), rule })
  }
  const sleep = createSleep(clock)
  const health = watchTopic(clock, observe)
  const settling = createSettling(persistence, clock, observe)
  const hand = createHand({
    transport,
    settling,
    health,
    clock,
    observe,
    publishTimeoutMs,
    maxPublishing,
    onRoom: () => onRoom(),
  })
  let expectedAt: number | undefined
  let running = false
  let isWaitingForRoom = false

  const onRoom = (): void => {
    if (isWaitingForRoom && roomFor(clock.now()) > 0) sleep.nudge()
  }

  /** How many rows may be claimed now: one batch while the topic is probed. */
  const roomFor = (now: number): number => {
    const { claims, bytes } = hand.size()
    const probeAt = health.nextProbeAt()
    if (probeAt === undefined) {
      const room = bytes < maxInHandBytes ? maxInHand - claims : 0
      return room >= Math.min(WORTH_CLAIMING, maxInHand) ? Math.min(room, CLAIM_LIMIT) : 0
    }
    return now >= probeAt && claims === 0 ? transport.limits.maxBatchMessages : 0
  }

  const look = async (run: DispatchRun, now: number, limit: number): Promise<ClaimResult> => {
    const { lookAheadMs = parts.lookAheadMs ?? 1_000, shards } = run
    const maxBytes = maxInHandBytes - hand.size().bytes
    const generation = health.generation()
    expectedAt = undefined
    try {
      // While a topic is probed, rows that are not yet due could only be claimed to be given back.
      const dueBefore = health.nextProbeAt() === undefined ? now + lookAheadMs : now
      const request = { now, dueBefore, limit, maxBytes, leaseMs, ...(shards !== undefined && { shards }) }
      const result = await persistence.claimDueOutgoingMessages(request)
      observe({ type: 'pass', claimed: result.claims.length, more: result.more, nextDueAt: result.nextDueAt })
      // The topic may have gone down in the meantime: then these would be one more burst against it.
      const wentDown = health.nextProbeAt() !== undefined && health.generation() !== generation
      hand.add(result.claims, wentDown ? 'the topic went down' : undefined)
      return result
    } catch (error) {
      const code = isPostdateError(error) ? error.code : 'persistence.unavailable'
      observe({ type: 'pass-failed', code, reason: reasonOf(error) })
      return { ...NOTHING, nextDueAt: now + pollMs }
    }
  }

  /** When to look again, given the last look. */
  const nextLookAt = (startedAt: number, { claims, more, nextDueAt }: ClaimResult): number => {
    const now = clock.now()
    const probeAt = health.nextProbeAt()
    if (probeAt !== undefined) return Math.max(now, probeAt)
    if (more && claims.length > 0) return now
    if (more) return now + SHORTEST_GAP_MS
    const known = Math.min(nextDueAt ?? Number.POSITIVE_INFINITY, expectedAt ?? Number.POSITIVE_INFINITY)
    return Math.min(startedAt + pollMs, Math.max(now + SHORTEST_GAP_MS, known - CLAIM_AHEAD_MS))
  }

  const isIdle = ({ more, nextDueAt }: ClaimResult, leaveWhenIdleMs: number | undefined): boolean => {
    if (leaveWhenIdleMs === undefined || more || hand.size().claims > 0) return false
    return (health.nextProbeAt() ?? nextDueAt ?? Number.POSITIVE_INFINITY) > clock.now() + leaveWhenIdleMs
  }

  const loop = async (run: DispatchRun): Promise<void> => {
    while (!run.signal.aborted) {
      const startedAt = clock.now()
      const limit = roomFor(startedAt)
      if (limit <= 0) {
        // A claim that ends nudges; a topic that is down is probed in time.
        isWaitingForRoom = true
        await sleep.until(Math.max(startedAt + SHORTEST_GAP_MS, health.nextProbeAt() ?? startedAt + pollMs), run.signal)
        isWaitingForRoom = false
        continue
      }
      const found = await look(run, startedAt, limit)
      if (run.signal.aborted) return
      // An idle dispatcher leaves only with an empty hand, so what it waits for first is the end of its claims.
      if (run.leaveWhenIdleMs !== undefined && !found.more && found.claims.length === 0) await hand.emptied()
      if (isIdle(found, run.leaveWhenIdleMs)) return
      await sleep.until(nextLookAt(startedAt, found), run.signal)
    }
  }

  return {
    run: async (run) => {
      if (running)
        throw new PostdateError('options.invalid', {
          option: 'run',
          value: 'a second run',
          rule: 'a dispatcher has one run at a time',
        })
      running = true
      try {
        await loop(run)
        hand.giveBack('the dispatcher is leaving')
        await hand.emptied()
      } finally {
        running = false
      }
    },
    expect: (dueAt) => {
      expectedAt = Math.min(expectedAt ?? dueAt, dueAt)
      sleep.notLaterThan(dueAt - CLAIM_AHEAD_MS)
    },
  }
}
