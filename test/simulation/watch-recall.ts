import { LEASE_MARGIN_MS } from '../../lib/core/lease.js'
import type { DelayingPersistence, OutgoingMessage, RecallOutcome, RowAddress } from '../../lib/core/persistence.js'
import { type History, keyOf, type Life, lastClaimOf, lifeOf } from './history.js'
import type { SimulatedProcess } from './process.js'
import { MOST_SKEW_MS } from './world.js'

/** Recalls, each compared with the history of its row. */
export interface WatchedRecall {
  recall(process: SimulatedProcess, address: RowAddress, now: number): Promise<RecallOutcome>
  /** Tells that a row was stored: none may be where a recall had said that there will be none. */
  checkPromise(process: SimulatedProcess, message: OutgoingMessage): void
}

/**
 * A recall keeps a send that is still in flight from arriving, until the margin after the message's instant. A send that is
 * in flight for longer than the margin, less what two clocks may differ by, may come after that: a known limit.
 */
const SURELY_KEPT_AWAY_MS = LEASE_MARGIN_MS - 2 * MOST_SKEW_MS

/** What a recall has to answer of a row that is or was there. */
const truthOf = (life: Life, address: RowAddress, now: number): readonly RecallOutcome[] => {
  switch (life.state) {
    case 'waiting':
    case 'dead':
      return [life.isUnsure ? 'possibly-delivered' : 'recalled']
    case 'held':
      return [now >= (lastClaimOf(life)?.until ?? 0) + LEASE_MARGIN_MS ? 'possibly-delivered' : 'too-late']
    case 'settled':
      // `now` may lag: by the caller's clock, or since the call was long on its way. The bus answers by a later look at it.
      return address.dueAt <= now ? ['too-late', 'already-recalled'] : ['not-found', 'already-recalled']
    case 'recalled':
      // A recalled row is removed some time after its instant, when nothing can wait under the handle any more.
      return ['already-recalled', address.dueAt <= now ? 'too-late' : 'not-found']
  }
}

/** Watches the recalls of a store. */
export const watchRecall = (inner: DelayingPersistence, history: History): WatchedRecall => {
  const { trace, violate } = history
  const promisedAbsent = new Set<string>()

  const answered = (process: SimulatedProcess, address: RowAddress, now: number, outcome: RecallOutcome): void => {
    const row = history.row(address)
    const life = lifeOf(row)
    const number = row?.message.number ?? address.rowId
    trace(process.name, () => `recall of ${number}: ${outcome}`)
    const isPromised = promisedAbsent.has(keyOf(address))
    if (outcome === 'not-found' || outcome === 'recalled') promisedAbsent.add(keyOf(address))
    if (life === undefined) {
      const truth = [address.dueAt <= now ? 'too-late' : 'not-found', ...(isPromised ? ['already-recalled'] : [])]
      if (!truth.includes(outcome)) violate('truthful', `recall of ${number}, never stored, answered ${outcome}`)
      return
    }
    const truth = truthOf(life, address, now)
    if (!truth.includes(outcome))
      violate('truthful', `recall of ${number}, ${life.state}, answered ${outcome} and not ${truth.join(' or ')}`)
    if (outcome === 'recalled' && life.publishes.length > 0)
      violate('truthful', `${number} was recalled as surely not delivered, and it had been published`)
    if (outcome === 'recalled' || outcome === 'possibly-delivered') life.state = 'recalled'
    if (outcome === 'possibly-delivered') life.isUnsure = true
  }

  return {
    recall: async (process, address, now) => {
      const outcome = await inner.recallOutgoingMessage(address, now)
      answered(process, address, now, outcome)
      return outcome
    },
    checkPromise: (process, message) => {
      const inFlightMs = process.clock.now() - message.envelope.sentAt
      if (inFlightMs > SURELY_KEPT_AWAY_MS || !promisedAbsent.has(keyOf(message))) return
      violate('truthful', `${keyOf(message)} was stored after a recall had said that nothing will be`)
    },
  }
}
