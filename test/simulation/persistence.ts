import { PostdateError } from '../../lib/core/errors.js'
import type {
  Claim,
  ClaimResult,
  Coordination,
  DelayingPersistence,
  OutgoingMessage,
  Release,
  SettleOutcome,
  StoreOutcome,
} from '../../lib/core/persistence.js'
import type { SimulatedProcess } from './process.js'
import type { WatchedRecall } from './watch-recall.js'
import type { WatchedStore } from './watch-store.js'
import { doLater, travel, type World } from './world.js'

/** What the persistence of a process reaches over the network. */
export interface StoreBehind {
  readonly store: WatchedStore
  readonly recall: WatchedRecall
  readonly coordination: Coordination
  readonly inner: DelayingPersistence
}

/** A late insert comes within this after its error: later than the margin could undo what a recall has promised. */
const LATE_STORE_MS = 1_000
const LATE_MS = 10_000
/** How likely a call that carries messages meets one kind of trouble, and one that carries none. */
const OFTEN = 0.05
const SELDOM = 0.01

const unavailable = (operation: string, reason: string) =>
  new PostdateError('persistence.unavailable', { persistence: 'simulated', operation, reason })

interface Call<T> {
  readonly operation: string
  readonly messageIds: readonly string[]
  /** How much later an answered error may still be applied. @default 10 s */
  readonly lateMs?: number
  /** Does it. */
  readonly apply: () => Promise<T>
  /** Does a part of it, where a part can fail. */
  readonly applyPart?: () => Promise<T>
  /** The messages that an answer tells of. */
  readonly idsIn?: (answer: T) => readonly string[]
}

/** The persistence of one process: the store behind a network that loses, delays and repeats what a real one would. */
export const simulatePersistence = (
  world: World,
  process: SimulatedProcess,
  behind: StoreBehind,
): DelayingPersistence => {
  const { faults, random } = world

  const call = <T>({ operation, messageIds, lateMs = LATE_MS, apply, applyPart, idsIn }: Call<T>): Promise<T> =>
    process.call(operation, async () => {
      const about = () => ({ process: process.name, messageIds: [...messageIds] })
      const often = messageIds.length > 0 || idsIn !== undefined ? OFTEN : SELDOM
      const journey = { process, messageIds }
      await travel(world, journey)
      if (faults.draw('store-refused', often, about())) throw unavailable(operation, 'throttled')
      const late = faults.draw('store-late', often, about())
      if (late !== undefined) {
        void doLater(world, random.integer(1, lateMs), async () => {
          const answer = await apply()
          late.messageIds.push(...(idsIn?.(answer) ?? []))
        })
        throw unavailable(operation, 'timed out')
      }
      const isPart = applyPart !== undefined && faults.draw('store-partial', often, about()) !== undefined
      const answer = await (isPart ? applyPart() : apply())
      const touched = idsIn?.(answer) ?? []
      if (faults.draw('store-timed-out', often, { process: process.name, messageIds: [...messageIds, ...touched] }))
        throw unavailable(operation, 'timed out, and was applied')
      await travel(world, { process, messageIds: [...messageIds, ...touched] })
      return answer
    })

  /** Applies some items only; for the others the answer is `failure(wasApplied)`. */
  const inPart = async <I, O>(
    items: readonly I[],
    apply: (items: readonly I[]) => Promise<readonly O[]>,
    failure: (wasApplied: boolean) => O,
  ): Promise<readonly O[]> => {
    const fates = items.map(() => random.pick(['good', 'good', 'refused', 'unanswered'] as const))
    const applied = items.filter((_, index) => fates[index] !== 'refused')
    const outcomes = applied.length === 0 ? [] : await apply(applied)
    const answers = outcomes.values()
    return fates.map((fate) => {
      const answer = fate === 'refused' ? undefined : answers.next().value
      return fate === 'good' && answer !== undefined ? answer : failure(fate === 'unanswered')
    })
  }

  const failedToStore = (wasApplied: boolean): StoreOutcome => ({
    outcome: 'failed',
    stored: wasApplied || random.chance(0.5) ? 'unknown' : 'no',
    error: unavailable('store a message', 'this item failed'),
  })
  const failedToSettle = (): SettleOutcome => ({ outcome: 'failed', error: unavailable('settle', 'this item failed') })
  const idOf = ({ envelope, rowId }: Claim) => (typeof envelope === 'string' ? rowId : envelope.messageId)

  const storeMessages = async (messages: readonly OutgoingMessage[]) => {
    const outcomes = await behind.store.store(process, messages)
    for (const [index, message] of messages.entries())
      if (outcomes[index]?.outcome === 'stored') behind.recall.checkPromise(process, message)
    return outcomes
  }
  const settle = (claims: readonly Claim[]) => behind.store.settle(process, claims)
  const release = (releases: readonly Release[]) => behind.store.release(process, releases)

  return {
    name: 'simulated',
    coordination: simulateCoordination(behind.coordination, call),
    storeOutgoingMessages: (messages) =>
      call({
        operation: 'store messages',
        messageIds: messages.map(({ envelope }) => envelope.messageId),
        lateMs: LATE_STORE_MS,
        apply: () => storeMessages(messages),
        applyPart: () => inPart(messages, storeMessages, failedToStore),
      }),
    claimDueOutgoingMessages: (request) => {
      const askedAt = world.clock.now()
      return call<ClaimResult>({
        operation: 'claim',
        messageIds: [],
        apply: async () => {
          const result = await behind.store.claim(process, request, askedAt)
          if (result.claims.length === 0) return result
          const lost = faults.draw('store-partial', OFTEN, { process: process.name, messageIds: [] })
          if (lost === undefined) return result
          const claims = result.claims.filter(() => random.chance(0.5))
          lost.messageIds.push(...result.claims.filter((claim) => !claims.includes(claim)).map(idOf))
          return { ...result, claims }
        },
        idsIn: ({ claims }) => claims.map(idOf),
      })
    },
    deleteOutgoingMessages: (claims) =>
      call({
        operation: 'settle',
        messageIds: claims.map(idOf),
        apply: () => settle(claims),
        applyPart: () => inPart(claims, settle, failedToSettle),
      }),
    releaseOutgoingMessages: (releases) =>
      call({
        operation: 'release',
        messageIds: releases.map(({ claim }) => idOf(claim)),
        apply: () => release(releases),
        applyPart: () => inPart(releases, release, failedToSettle),
      }),
    recallOutgoingMessage: (address, now) =>
      call({
        operation: 'recall',
        messageIds: [address.rowId],
        apply: () => behind.recall.recall(process, address, now),
      }),
    measureBacklog: (now) =>
      call({ operation: 'measure', messageIds: [], apply: () => behind.inner.measureBacklog(now) }),
  }
}

const simulateCoordination = (inner: Coordination, call: <T>(request: Call<T>) => Promise<T>): Coordination => {
  const ask = <T>(operation: string, apply: () => Promise<T>) => call({ operation, messageIds: [], apply })
  return {
    readShards: () => ask('read the shards', () => inner.readShards()),
    growShards: (atLeast) => ask('grow the shards', () => inner.growShards(atLeast)),
    readWorker: () => ask('read the worker lease', () => inner.readWorker()),
    takeWorker: (next, seen) => ask('take the worker lease', () => inner.takeWorker(next, seen)),
  }
}
