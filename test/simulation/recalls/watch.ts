import { LEASE_MARGIN_MS } from '../../../lib/core/lease.js'
import type { Claim, RecallOutcome } from '../../../lib/core/persistence.js'

/** How a claim ended. */
export type Ending = 'settled' | 'unpublished' | 'perhaps published'

/** What a recall did in the store. Its caller may not have learned of it. */
export interface DoneRecall {
  readonly outcome: RecallOutcome
  readonly publishedBefore: number
}

/** All that happened to the one message, seen at the store and at the topic. */
export interface Watch {
  stored(): void
  claimed(claim: Claim): void
  ended(claim: Claim, ending: Ending): void
  published(id: string): void
  /** A recall was done. `now` is by the clock of whoever asked. */
  recalled(outcome: RecallOutcome, now: number): void
  readonly publishes: () => number
  /** There has been a row. */
  readonly wasStored: () => boolean
  /**
   * There have been two: a send that was repeated, or landed late, after its message had been delivered. A recall then
   * withdraws the second, and speaks of that.
   */
  readonly wasStoredAgain: () => boolean
  readonly recalls: readonly DoneRecall[]
  readonly violations: string[]
}

const WITHDRAWING: readonly RecallOutcome[] = ['recalled', 'possibly-delivered', 'not-found']

/** Watches one message. */
export const createWatch = (): Watch => {
  const recalls: DoneRecall[] = []
  const violations: string[] = []
  let publishes = 0
  let open: Claim | undefined
  let isUnsure = false
  let stores = 0

  return {
    stored: () => {
      stores++
    },
    wasStored: () => stores > 0,
    wasStoredAgain: () => stores > 1,
    claimed: (claim) => {
      // The claim before it ended without a word.
      if (open !== undefined) isUnsure = true
      open = claim
      if (recalls.some(({ outcome }) => WITHDRAWING.includes(outcome)))
        violations.push('it was claimed after its recall')
    },
    ended: (claim, ending) => {
      if (open?.lease !== claim.lease) violations.push('a claim ended that did not hold the row')
      open = undefined
      if (ending === 'perhaps published') isUnsure = true
    },
    published: () => {
      publishes++
      if (recalls.some(({ outcome }) => outcome === 'recalled'))
        violations.push('it was published after a recall had withdrawn it as surely not published')
    },
    recalled: (outcome, now) => {
      const hasEnded = open !== undefined && now >= open.leaseUntil + LEASE_MARGIN_MS
      const withdrawn = recalls.some((earlier) => WITHDRAWING.includes(earlier.outcome))
      if (outcome === 'recalled' && publishes > 0 && stores < 2) violations.push('recalled, and it had been published')
      if (outcome === 'possibly-delivered' && !isUnsure && !hasEnded)
        violations.push('possibly-delivered, and no lease had ended unsettled and no publish was unsure')
      if (outcome === 'already-recalled' && !withdrawn)
        violations.push('already-recalled, and nothing had withdrawn it')
      if (withdrawn && outcome !== 'already-recalled' && outcome !== 'too-late')
        violations.push(`${outcome}, and it was withdrawn before`)
      recalls.push({ outcome, publishedBefore: publishes })
    },
    publishes: () => publishes,
    recalls,
    violations,
  }
}
