import type { Clock } from '../clock.js'
import { isPostdateError, PostdateError, reasonOf } from '../errors.js'
import { LEASE_MARGIN_MS } from '../lease.js'
import { consoleLogger, guardObserver, type Logger, type Observer } from '../observation.js'
import type { ClaimResult, DelayingPersistence } from '../persistence.js'
import type { Transport } from '../transport.js'
import { awaitAnswer } from './await-answer.js'
import { type DispatchOptions, settleDispatchOptions } from './dispatch-options.js'
import { createHand } from './hand.js'
import { createPausableClaim } from './pausable-claim.js'
import { createSettling } from './settling.js'
import { createSleep } from './sleep.js'
import { watchTopic } from './topic-health.js'

/** What a dispatcher works with. */
export interface DispatcherParts extends DispatchOptions {
  readonly persistence: DelayingPersistence
  readonly transport: Transport
  readonly clock: Clock
  readonly observe: Observer
  /** Told of an observer that throws. @default warnings and errors to the console */
  readonly logger?: Logger
}

/** One run of a dispatcher. */
export interface DispatchRun {
  /** Aborted: claim nothing more, give back what is not being published, and end. */
  readonly signal: AbortSignal
  /**
   * When aborted, publish what is in hand instead of giving it back. It falls due within the look-ahead, and whoever takes
   * over has looked already: it would find what is given back by its next poll, up to a second late.
   * @default false
   */
  readonly finishHand?: boolean
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
/** A full hand claims again once it has room for one write request of the store, and this share of its bytes. */
const WORTH_CLAIMING = 25
const WORTH_CLAIMING_SHARE = 4
const LEAVING = 'the dispatcher is leaving'

/**
 * Makes a dispatcher.
 * @throws PostdateError `options.invalid` when an option is out of its range, or the lease too short for a publish
 */
export const createDispatcher = (parts: DispatcherParts): Dispatcher => {
  const { persistence, transport, clock } = parts
  const observe = guardObserver(parts.observe, parts.logger ?? consoleLogger)
  const options = settleDispatchOptions(parts)
  const { pollMs, leaseMs, publishTimeoutMs, maxInHand, maxInHandBytes, maxPublishing } = options
  /** A claim that takes longer than this comes too late to be published. */
  const usefulMs = leaseMs - LEASE_MARGIN_MS - publishTimeoutMs
  const claim = createPausableClaim(persistence, clock)
  const sleep = createSleep(clock)
  const health = watchTopic(clock, observe)
  const settling = createSettling({ persistence, clock, observe, storeTimeoutMs: usefulMs })
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
  let lookedAt = Number.NEGATIVE_INFINITY
  let running = false
  let waitsFor: 'time' | 'room' | 'empty hand' = 'time'

  const onRoom = (): void => {
    if (waitsFor === 'room' && roomFor(clock.now()) > 0) sleep.nudge()
    if (waitsFor === 'empty hand' && hand.size().claims === 0) sleep.nudge()
  }

  /** How many rows may be claimed now: one batch while the topic is probed. */
  const roomFor = (now: number): number => {
    const { claims, bytes } = hand.size()
    const probeAt = health.nextProbeAt()
    if (probeAt !== undefined) return now >= probeAt && claims === 0 ? transport.limits.maxBatchMessages : 0
    const isHeavy = claims > 0 && maxInHandBytes - bytes < maxInHandBytes / WORTH_CLAIMING_SHARE
    const room = isHeavy ? 0 : maxInHand - claims
    return room >= Math.min(WORTH_CLAIMING, maxInHand) ? Math.min(room, CLAIM_LIMIT) : 0
  }

  const look = async (run: DispatchRun, now: number, limit: number): Promise<ClaimResult | undefined> => {
    const { lookAheadMs = options.lookAheadMs, shards } = run
    const maxBytes = maxInHandBytes - hand.size().bytes
    expectedAt = undefined
    lookedAt = now
    try {
      // While a topic is probed, rows that are not yet due could only be claimed to be given back.
      const dueBefore = health.nextProbeAt() === undefined ? now + Math.min(lookAheadMs, usefulMs - 1) : now
      const request = { now, dueBefore, limit, maxBytes, leaseMs, ...(shards !== undefined && { shards }) }
      const result = await awaitAnswer(
        clock,
        now + usefulMs,
        () => claim(request),
        ({ claims }) => hand.add(claims, 'they were claimed too late to be published'),
      )
      observe({ type: 'pass', claimed: result.claims.length, more: result.more, nextDueAt: result.nextDueAt })
      hand.add(result.claims, run.signal.aborted && !run.finishHand ? LEAVING : undefined)
      return result
    } catch (error) {
      const code = isPostdateError(error) ? error.code : 'persistence.unavailable'
      observe({ type: 'pass-failed', code, reason: reasonOf(error) })
      return undefined
    }
  }

  const nearestKnown = ({ nextDueAt }: ClaimResult): number =>
    Math.min(nextDueAt ?? Number.POSITIVE_INFINITY, expectedAt ?? Number.POSITIVE_INFINITY)

  /** When to look again, given the last look; `undefined`: it failed. */
  const nextLookAt = (startedAt: number, found: ClaimResult | undefined, aheadMs: number): number => {
    const now = clock.now()
    if (found === undefined) return Math.max(now + SHORTEST_GAP_MS, startedAt + pollMs)
    const isClaimed = found.claims.length > 0
    const probeAt = health.nextProbeAt()
    // A probe that found nothing to send with is no probe: then the due instants tell.
    if (probeAt !== undefined && (isClaimed || now < probeAt)) return Math.max(now, probeAt)
    if (found.more) return isClaimed ? now : now + SHORTEST_GAP_MS
    const known = nearestKnown(found)
    // A row that this look could not claim yet, since another holds it, is to be had at its instant and not before.
    const wanted = known - aheadMs > now ? known - aheadMs : known
    return Math.max(now, Math.min(startedAt + pollMs, Math.max(now + SHORTEST_GAP_MS, wanted)))
  }

  /** Whether, as far as this look could see, nothing falls due soon. */
  const isQuiet = (found: ClaimResult | undefined, leaveWhenIdleMs: number | undefined): boolean =>
    found !== undefined &&
    leaveWhenIdleMs !== undefined &&
    !found.more &&
    nearestKnown(found) > clock.now() + leaveWhenIdleMs

  const loop = async (run: DispatchRun): Promise<void> => {
    while (!run.signal.aborted) {
      const startedAt = clock.now()
      const limit = roomFor(startedAt)
      if (limit <= 0) {
        // A claim that ends nudges; a topic that is down is probed in time.
        waitsFor = 'room'
        await sleep.until(Math.max(startedAt + SHORTEST_GAP_MS, health.nextProbeAt() ?? startedAt + pollMs), run.signal)
        continue
      }
      const wasEmpty = hand.size().claims === 0
      const found = await look(run, startedAt, limit)
      if (run.signal.aborted) return
      const mayLeave = isQuiet(found, run.leaveWhenIdleMs)
      if (mayLeave && hand.size().claims === 0) {
        // What was in hand may have been given back for a moment, and this look could not know.
        if (wasEmpty) return
        continue
      }
      waitsFor = mayLeave ? 'empty hand' : 'time'
      const aheadMs = Math.min(CLAIM_AHEAD_MS, run.lookAheadMs ?? options.lookAheadMs)
      await sleep.until(nextLookAt(startedAt, found, aheadMs), run.signal)
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
        if (!run.finishHand) hand.giveBack(LEAVING)
        await hand.emptied()
      } finally {
        running = false
      }
    },
    expect: (dueAt) => {
      expectedAt = Math.min(expectedAt ?? dueAt, dueAt)
      // Many sends at once make one look, not one each.
      if (waitsFor !== 'room') sleep.notLaterThan(Math.max(dueAt - CLAIM_AHEAD_MS, lookedAt + SHORTEST_GAP_MS))
    },
  }
}
