import type { Clock } from '../clock.js'
import type { Envelope } from '../envelope.js'
import { LEASE_MARGIN_MS } from '../lease.js'
import type { Observer } from '../observation.js'
import { estimateStoredBytes, packBatch } from '../packing.js'
import type { Claim } from '../persistence.js'
import { publishSafely } from '../publish-now.js'
import type { PublishOutcome, Transport } from '../transport.js'
import { awaitAnswer } from './await-answer.js'
import type { Settling } from './settling.js'
import type { TopicHealth } from './topic-health.js'

/** A claim in hand: its right to publish lasts until `startBefore`. */
interface HeldClaim {
  readonly claim: Claim
  readonly envelope: Envelope
  /** An upper bound of its bytes on the wire. */
  readonly bytes: number
  /** It goes in a request of its own: it, or a batch with it, has failed before. */
  readonly alone: boolean
  /** No publish starts after this, epoch milliseconds: by the time it ends the lease is still held, on any clock. */
  readonly startBefore: number
}

/** The claims that a dispatcher holds: each is published at its due instant, then settled or given back. */
export interface Hand {
  /** Takes claims; publishes each when it is due, or, with a reason to refuse them, gives them back. Every claim ends in an outcome. */
  add(claims: readonly Claim[], refuse?: string): void
  /** Claims not yet settled or given back, and their bytes. */
  size(): { readonly claims: number; readonly bytes: number }
  /** Gives back what is not being published, as of now. */
  giveBack(why: string): void
  /** Resolves when nothing is in hand. */
  emptied(): Promise<void>
}

/** What a hand works with. */
export interface HandParts {
  readonly transport: Transport
  readonly settling: Settling
  readonly health: TopicHealth
  readonly clock: Clock
  readonly observe: Observer
  readonly publishTimeoutMs: number
  /** The most publish requests at once. */
  readonly maxPublishing: number
  /** Told whenever a claim has ended. */
  readonly onRoom: () => void
}

/** Failures that name one message: it is dead at the fifth; until then it waits. */
const MOST_FAILURES = 5
const FAILURE_WAIT_MS = [5_000, 30_000, 120_000, 600_000]
/** A failure that passes: the row is given back for this long, and nothing is counted against it. */
const PASSING_WAIT_MS = 2_000
/** A row whose claims ended so often without settle or release is published alone: it may be what ends them. */
const CLAIMS_BEFORE_ALONE = 5

/** Why a message is dead that waited longer than its sender wants it delivered. */
const EXPIRED = 'expired'

const isStale = ({ claim, envelope }: HeldClaim, now: number): boolean =>
  envelope.discardAfterMs !== undefined && now > claim.dueAt + envelope.discardAfterMs

/** A transport ends a publish at its own time-out; one that does not is given up so much later. */
const ANSWER_GRACE_MS = 1_000

/** Makes an empty hand. */
export const createHand = (parts: HandParts): Hand => {
  const { transport, settling, health, clock, observe } = parts
  const waiting: HeldClaim[] = []
  const inHand = new Map<Claim, number>()
  let bytesInHand = 0
  let publishing = 0
  let cancelTimer = () => {}
  let whenEmpty: (() => void)[] = []

  const end = async (claim: Claim, work: Promise<void>): Promise<void> => {
    await work
    bytesInHand -= inHand.get(claim) ?? 0
    inHand.delete(claim)
    if (inHand.size === 0) {
      for (const resolve of whenEmpty) resolve()
      whenEmpty = []
    }
    parts.onRoom()
  }

  const settle = (claim: Claim) => end(claim, settling.settle(claim))
  const release = (claim: Claim, published: 'no' | 'perhaps', waitMs: number, why: string, failures = claim.failures) =>
    end(claim, settling.release({ claim, published, notBefore: clock.now() + waitMs, failures }, why))
  const giveUp = (claim: Claim, published: 'no' | 'perhaps', reason: string, failures = claim.failures) => {
    const diedAt = clock.now()
    return end(
      claim,
      settling.release({ claim, published, notBefore: diedAt, failures, dead: { reason, diedAt } }, reason),
    )
  }

  const insert = (held: HeldClaim): void => {
    let at = waiting.length
    while (at > 0 && (waiting[at - 1]?.claim.dueAt ?? 0) > held.claim.dueAt) at--
    waiting.splice(at, 0, held)
  }

  const giveBack = (why: string): void => {
    cancelTimer()
    for (const { claim } of waiting.splice(0)) void release(claim, 'no', 0, why)
  }

  const countFailure = ({ claim }: HeldClaim, published: 'no' | 'perhaps', reason: string) => {
    const failures = claim.failures + 1
    if (failures >= MOST_FAILURES) return giveUp(claim, published, reason, failures)
    return release(claim, published, FAILURE_WAIT_MS[failures - 1] ?? 0, reason, failures)
  }

  /** What the outcomes of a batch tell of the topic. */
  const judgeTopic = (outcomes: readonly PublishOutcome[], generation: number): void => {
    const failed = outcomes.flatMap((one) => (one.outcome === 'failed' ? [one] : []))
    // A topic that refuses a message for what it holds has taken the request in.
    const isUp = failed.length < outcomes.length || failed.some(({ blames }) => ['message', 'request'].includes(blames))
    if (isUp) health.succeeded(generation)
    // While it is down, a probe that got nothing through has failed, whatever it blames.
    const isDown = health.nextProbeAt() !== undefined
    const against = failed.find(({ blames }) => blames === 'topic' || (isDown && blames === 'passing'))
    if (against !== undefined) health.failed(generation, against.reason)
  }

  const conclude = (held: HeldClaim, outcome: PublishOutcome, batchSize: number): void => {
    const { claim, envelope } = held
    if (outcome.outcome === 'published') {
      const latenessMs = clock.now() - claim.dueAt
      observe({ type: 'dispatched', messageId: envelope.messageId, name: envelope.name, latenessMs })
      void settle(claim)
      return
    }
    const { blames, published, reason } = outcome
    if (blames === 'topic') void release(claim, published, 0, reason)
    else if (blames === 'passing') void release(claim, published, PASSING_WAIT_MS, reason)
    // Refused whole: which one is to blame shows when each goes alone.
    else if (blames === 'request' && batchSize > 1 && published === 'no') insert({ ...held, alone: true })
    else void countFailure(held, published, reason)
  }

  const publish = async (batch: readonly HeldClaim[]): Promise<void> => {
    publishing++
    const generation = health.generation()
    const publications = batch.map(({ claim, envelope }) => ({
      envelope,
      delivery: {
        dueAt: claim.dueAt,
        attempt: claim.attempt,
        ...(claim.target !== undefined && { target: claim.target }),
      },
    }))
    const endsAt = clock.now() + parts.publishTimeoutMs + ANSWER_GRACE_MS
    const outcomes = await publishSafely(
      (sent) => awaitAnswer(clock, endsAt, () => transport.publish(sent)),
      publications,
    )
    publishing--
    judgeTopic(outcomes, generation)
    for (const [index, held] of batch.entries()) {
      const outcome = outcomes[index]
      if (outcome !== undefined) conclude(held, outcome, batch.length)
    }
    pump()
  }

  const takeBatch = (now: number): readonly HeldClaim[] => {
    const near = waiting.slice(0, transport.limits.maxBatchMessages)
    const ready = near.filter(({ claim }) => claim.dueAt <= now)
    const batch = ready.length === 0 ? [] : packBatch(ready, transport.limits)
    waiting.splice(0, batch.length)
    return batch
  }

  const pump = (): void => {
    cancelTimer()
    const probeAt = health.nextProbeAt()
    if (probeAt !== undefined && clock.now() < probeAt) {
      giveBack('the topic is down')
      return
    }
    const most = probeAt === undefined ? parts.maxPublishing : 1
    while (publishing < most) {
      const now = clock.now()
      const batch = takeBatch(now)
      if (batch.length === 0) break
      const held: HeldClaim[] = []
      for (const one of batch) {
        if (isStale(one, now)) void giveUp(one.claim, 'no', EXPIRED)
        else if (now < one.startBefore) held.push(one)
        else void release(one.claim, 'no', 0, 'its lease was about to end before it could be published')
      }
      if (held.length > 0) void publish(held)
    }
    const [next] = waiting
    // When every request is taken, the end of one pumps again.
    if (next !== undefined && publishing < most) cancelTimer = clock.wakeAt(next.claim.dueAt, pump)
  }

  const take = (claim: Claim): void => {
    inHand.set(claim, claim.bytes)
    bytesInHand += claim.bytes
    const { envelope } = claim
    if (typeof envelope === 'string') {
      void giveUp(claim, 'no', envelope)
      return
    }
    insert({
      claim,
      envelope,
      bytes: estimateStoredBytes(claim.bytes, envelope, claim.target),
      alone: claim.claims > CLAIMS_BEFORE_ALONE,
      startBefore: claim.leaseUntil - LEASE_MARGIN_MS - parts.publishTimeoutMs,
    })
  }

  return {
    add: (claims, refuse) => {
      for (const claim of claims) take(claim)
      if (refuse === undefined) pump()
      else giveBack(refuse)
    },
    size: () => ({ claims: inHand.size, bytes: bytesInHand }),
    giveBack,
    emptied: () => (inHand.size === 0 ? Promise.resolve() : new Promise((resolve) => whenEmpty.push(resolve))),
  }
}
