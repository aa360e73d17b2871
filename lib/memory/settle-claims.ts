import { formatLease, givenUp, released } from '../core/lease.js'
import type { Claim, Release, SettleOutcome } from '../core/persistence.js'
import { forgetRow, type MemoryStore, type Row, rowsOf, sortKeyOf } from './rows.js'

const findHeld = (store: MemoryStore, claim: Claim): Row | SettleOutcome => {
  const row = store.due.get(claim.shard)?.find(sortKeyOf(claim))
  if (row === undefined) return { outcome: 'gone' }
  return formatLease(row.lease) === claim.lease ? row : { outcome: 'lease-lost' }
}

/** Removes the row of a claim, if the claim still holds it. */
export const settleClaim = (store: MemoryStore, claim: Claim): SettleOutcome => {
  const held = findHeld(store, claim)
  if ('outcome' in held) return held
  rowsOf(store.due, held.shard).remove(held.sortKey)
  forgetRow(store, held)
  return { outcome: 'settled' }
}

/** Gives a claim back, or moves its row to the dead ones, if the claim still holds it. */
export const releaseClaim = (store: MemoryStore, release: Release): SettleOutcome => {
  const { claim, published, notBefore, failures, dead } = release
  const held = findHeld(store, claim)
  if ('outcome' in held) return held
  held.failures = failures ?? held.failures
  if (dead === undefined) {
    held.lease = released(held.lease, published, notBefore, store.newToken())
    return { outcome: 'settled' }
  }
  if (held.message === undefined) throw new Error(`the row ${held.rowId} is held by a claim and has no message`)
  rowsOf(store.due, held.shard).remove(held.sortKey)
  const deadRows = rowsOf(store.dead, held.shard)
  // A message that was stored again after its row had died, and died again, leaves one dead row: the later.
  deadRows.remove(held.sortKey)
  const lease = givenUp(held.lease, published, dead.diedAt, store.newToken())
  deadRows.insert({ ...held, message: held.message, lease, reason: dead.reason, diedAt: dead.diedAt })
  return { outcome: 'settled' }
}
