import { LEASE_MARGIN_MS } from '../../lib/core/lease.js'
import type {
  Claim,
  ClaimRequest,
  ClaimResult,
  DelayingPersistence,
  OutgoingMessage,
  Release,
  SettleOutcome,
  StoreOutcome,
} from '../../lib/core/persistence.js'
import { type History, keyOf, lastClaimOf, lifeOf } from './history.js'
import type { SimulatedProcess } from './process.js'

/** The store as the judge sees it: each call is made by a process, is one step, and is compared with what came before. */
export interface WatchedStore {
  store(process: SimulatedProcess, messages: readonly OutgoingMessage[]): Promise<readonly StoreOutcome[]>
  claim(process: SimulatedProcess, request: ClaimRequest, askedAt: number): Promise<ClaimResult>
  settle(process: SimulatedProcess, claims: readonly Claim[]): Promise<readonly SettleOutcome[]>
  release(process: SimulatedProcess, releases: readonly Release[]): Promise<readonly SettleOutcome[]>
}

const REFUSALS_BEFORE_DEATH = 5

/** Watches a store: keeps the history of every row, and tells what breaks a promise. */
export const watchStore = (inner: DelayingPersistence, history: History): WatchedStore => {
  const { now, trace, violate } = history

  const stored = (process: SimulatedProcess, message: OutgoingMessage, outcome: StoreOutcome): void => {
    const row = history.rowOf(message)
    trace(process.name, () => `store ${row.message.number} due ${message.dueAt}: ${outcome.outcome}`)
    const life = lifeOf(row)
    const isThere = life?.state === 'waiting' || life?.state === 'held'
    if (outcome.outcome === 'stored') {
      if (isThere) violate('one row', `${row.key} was stored while it was there`)
      row.lives.push({
        storedAt: now(),
        storedBy: process,
        state: 'waiting',
        notBefore: 0,
        claims: [],
        publishes: [],
        isUnsure: false,
      })
    } else if (outcome.outcome === 'recalled') row.message.isKeptAway = true
    else if (outcome.outcome === 'duplicate' && !isThere) {
      violate('durable', `${row.key} was called a duplicate of a row that is not there`)
    } else if (outcome.outcome === 'conflict') violate('one row', `${row.key} was called a conflict with itself`)
  }

  const claimed = (process: SimulatedProcess, request: ClaimRequest, claim: Claim, askedAt: number): void => {
    const row = history.row(claim)
    const life = lifeOf(row)
    const number = row?.message.number ?? '?'
    trace(process.name, () => `claims ${number} until ${claim.leaseUntil}`)
    if (life === undefined) {
      violate('claim', `${claim.rowId} was claimed and never stored`)
      return
    }
    if (claim.dueAt > request.dueBefore) violate('claim', `${number} was claimed before it was to be`)
    const last = lastClaimOf(life)
    if (life.state === 'held' && last !== undefined) {
      life.isUnsure = true
      const holderNow = now() + last.process.skewMs
      if (request.now < last.until + LEASE_MARGIN_MS || holderNow < last.until) {
        const holder = `${last.process.name}, until ${last.until} (its clock: ${holderNow})`
        violate(
          'one live lease',
          `${number} was claimed by ${process.name} at ${request.now}, and is held by ${holder}`,
        )
      }
    } else if (life.state !== 'waiting') violate('claim', `${number} was claimed, and it is ${life.state}`)
    else if (request.now < life.notBefore) violate('claim', `${number} was claimed before ${life.notBefore}`)
    if (life.claims.some(({ lease }) => lease === claim.lease)) violate('claim', `${number} has a lease a second time`)
    const { lease, leaseUntil: until } = claim
    life.state = 'held'
    life.claims.push({ process, lease, until, askedAt, claimedAt: now() })
  }

  /** The life that this claim may end; `undefined` after telling why it may not. */
  const endable = (claim: Claim, outcome: SettleOutcome, verb: string) => {
    const row = history.row(claim)
    const life = lifeOf(row)
    const last = lastClaimOf(life)
    const isHolder = life?.state === 'held' && last?.lease === claim.lease
    trace('store', () => `${verb} ${row?.message.number ?? claim.rowId}: ${outcome.outcome}`)
    if (outcome.outcome !== 'settled') {
      if (isHolder && outcome.outcome !== 'failed') violate('settle', `${claim.rowId} was called ${outcome.outcome}`)
      return undefined
    }
    if (row !== undefined && life !== undefined && last !== undefined && isHolder) return { row, life, last }
    violate('only the holder settles', `${verb} of ${keyOf(claim)} took effect, and its claim did not hold the row`)
    if (life !== undefined && life.state !== 'recalled') life.state = 'settled'
    return undefined
  }

  const settled = (claim: Claim, outcome: SettleOutcome): void => {
    const found = endable(claim, outcome, 'settle')
    if (found === undefined) return
    const { row, life, last } = found
    if (!life.publishes.some((publish) => publish.claim === last))
      violate('lost', `${row.message.number} was removed, and this claim had not published it`)
    life.state = 'settled'
    last.ended = 'settled'
  }

  const released = ({ claim, published, notBefore, dead }: Release, outcome: SettleOutcome): void => {
    const found = endable(claim, outcome, dead === undefined ? `release (published: ${published})` : 'give up')
    if (found === undefined) return
    const { row, life, last } = found
    if (published === 'perhaps') life.isUnsure = true
    else {
      last.endedUnpublished = true
      if (life.publishes.some((publish) => publish.claim === last))
        violate('truthful', `${row.message.number} was given back as surely not published, and it was published`)
    }
    last.ended = dead === undefined ? 'released' : 'given-up'
    life.state = dead === undefined ? 'waiting' : 'dead'
    life.notBefore = notBefore
    if (dead === undefined) return
    if (dead.reason === '') violate('dead', `${row.message.number} died without a reason`)
    if (row.message.refusals < REFUSALS_BEFORE_DEATH)
      violate('dead', `${row.message.number} died after ${row.message.refusals} refusals: ${dead.reason}`)
  }

  return {
    store: async (process, messages) => {
      const outcomes = await inner.storeOutgoingMessages(messages)
      for (const [index, message] of messages.entries()) {
        const outcome = outcomes[index]
        if (outcome !== undefined) stored(process, message, outcome)
      }
      return outcomes
    },
    claim: async (process, request, askedAt) => {
      const result = await inner.claimDueOutgoingMessages(request)
      for (const claim of result.claims) claimed(process, request, claim, askedAt)
      return result
    },
    settle: async (_process, claims) => {
      const outcomes = await inner.deleteOutgoingMessages(claims)
      for (const [index, claim] of claims.entries()) settled(claim, outcomes[index] ?? { outcome: 'gone' })
      return outcomes
    },
    release: async (_process, releases) => {
      const outcomes = await inner.releaseOutgoingMessages(releases)
      for (const [index, release] of releases.entries()) released(release, outcomes[index] ?? { outcome: 'gone' })
      return outcomes
    },
  }
}
