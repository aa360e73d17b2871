import { type Clock, sleepUntil } from '../clock.js'
import { reasonOf } from '../errors.js'
import type { Observer } from '../observation.js'
import type { Claim, DelayingPersistence, Release, SettleOutcome } from '../persistence.js'
import { awaitAnswer } from './await-answer.js'

/** Ends claims: removes published rows, and gives the others back. */
export interface Settling {
  /** Removes a published row; resolves when that is done, or can't be done any more. */
  settle(claim: Claim): Promise<void>
  /** Gives a claim back, or its row up; resolves as `settle` does. `why` is for the event. */
  release(release: Release, why: string): Promise<void>
}

/** The most claims in one call of the store, and the most calls at once: while calls run, the next group gathers. */
const GROUP_SIZE = 100
const GROUPS_AT_ONCE = 2
const RETRY_AFTER_MS = 250
/** The longest wait of a published row that can't be removed, and how long after its lease it may be given back. */
const LONGEST_WAIT_MS = 900_000
const GRACE_MS = 1_000

/** What settling works with. */
export interface SettlingParts {
  readonly persistence: DelayingPersistence
  readonly clock: Clock
  readonly observe: Observer
  /** A call of the store without an answer for so long counts as failed. */
  readonly storeTimeoutMs: number
}

type Answer = SettleOutcome | { readonly outcome: 'failed'; readonly error: unknown }

interface Waiting<T> {
  readonly item: T
  readonly resolve: (answer: Answer) => void
}

const createGroups = <T>(send: (items: readonly T[]) => Promise<readonly SettleOutcome[]>) => {
  let waiting: Waiting<T>[] = []
  let running = 0
  const sendGroup = async (group: readonly Waiting<T>[]): Promise<void> => {
    try {
      const answers = await send(group.map(({ item }) => item))
      for (const [index, { resolve }] of group.entries()) {
        resolve(answers[index] ?? { outcome: 'failed', error: new Error('the store gave no outcome for it') })
      }
    } catch (error) {
      for (const { resolve } of group) resolve({ outcome: 'failed', error })
    }
    running--
    start()
  }
  const start = (): void => {
    while (running < GROUPS_AT_ONCE && waiting.length > 0) {
      const group = waiting.slice(0, GROUP_SIZE)
      waiting = waiting.slice(GROUP_SIZE)
      running++
      void sendGroup(group)
    }
  }
  return (item: T): Promise<Answer> =>
    new Promise((resolve) => {
      waiting.push({ item, resolve })
      // The rest of a batch is added in the same turn, and goes in the same call.
      if (waiting.length === 1) queueMicrotask(start)
    })
}

/** Settles and releases in groups. What the store can't do now is tried again while the lease lasts. */
export const createSettling = (parts: SettlingParts): Settling => {
  const { persistence, clock, observe } = parts
  const inTime = <A>(ask: () => Promise<A>) => awaitAnswer(clock, clock.now() + parts.storeTimeoutMs, ask)
  const deleteGrouped = createGroups<Claim>((claims) => inTime(() => persistence.deleteOutgoingMessages(claims)))
  const releaseGrouped = createGroups<Release>((releases) =>
    inTime(() => persistence.releaseOutgoingMessages(releases)),
  )

  const untilLeaseEnds = async (claim: Claim, attempt: () => Promise<Answer>): Promise<Answer> => {
    for (;;) {
      const answer = await attempt()
      const retryAt = clock.now() + RETRY_AFTER_MS
      if (answer.outcome !== 'failed' || retryAt >= claim.leaseUntil) return answer
      await sleepUntil(clock, retryAt)
    }
  }

  /**
   * A row that can be claimed and not removed (a permission is missing, say) would be published again whenever its lease has
   * ended, for ever. It is given back for as long as it is late by now: each wait is twice the one before. Answers until when.
   */
  const postpone = async (claim: Claim): Promise<number | undefined> => {
    const now = clock.now()
    const notBefore = Math.max(now + Math.min(now - claim.dueAt, LONGEST_WAIT_MS), claim.leaseUntil)
    try {
      const release: Release = { claim, published: 'perhaps', notBefore }
      const answer = await awaitAnswer(clock, claim.leaseUntil + GRACE_MS, () => releaseGrouped(release))
      return answer.outcome === 'settled' ? notBefore : undefined
    } catch {
      // No answer: the row is free again when its lease has ended, and the event says that it was not removed.
      return undefined
    }
  }

  return {
    settle: async (claim) => {
      const answer = await untilLeaseEnds(claim, () => deleteGrouped(claim))
      const { rowId } = claim
      if (answer.outcome === 'settled') {
        observe({ type: 'settled', rowId })
        return
      }
      const againAt = answer.outcome === 'failed' ? await postpone(claim) : undefined
      observe({ type: 'settle-lost', rowId, why: answer.outcome, ...(againAt !== undefined && { againAt }) })
    },
    release: async (release, why) => {
      const { claim, published, dead } = release
      const answer = await untilLeaseEnds(claim, () => releaseGrouped(release))
      const { rowId } = claim
      if (answer.outcome === 'failed') {
        observe({ type: 'release-lost', rowId, why: 'failed', reason: reasonOf(answer.error) })
      } else if (answer.outcome !== 'settled') {
        observe({ type: 'release-lost', rowId, why: answer.outcome, reason: why })
      } else if (dead !== undefined) observe({ type: 'dead', rowId, reason: dead.reason })
      else observe({ type: 'released', rowId, published, reason: why })
    },
  }
}
