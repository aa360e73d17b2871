import { recallAnswer, withdrawn } from '../core/lease.js'
import type { RecallOutcome, RowAddress } from '../core/persistence.js'
import { type MemoryStore, rowsOf, sortKeyOf } from './rows.js'

/** Withdraws a row, if it is still to be had. */
export const recallMessage = (store: MemoryStore, address: RowAddress, now: number): RecallOutcome => {
  const { shard, dueAt, rowId } = address
  const sortKey = sortKeyOf(address)
  const row = store.due.get(shard)?.find(sortKey)
  if (row !== undefined) {
    const answer = recallAnswer(row.lease, now)
    if (answer === 'recalled' || answer === 'possibly-delivered') {
      row.lease = withdrawn(now, store.newToken())
      row.message = undefined
    }
    return answer
  }
  const leaveTombstone = () => {
    const lease = withdrawn(now, store.newToken())
    rowsOf(store.due, shard).insert({ shard, dueAt, rowId, sortKey, lease, message: undefined, failures: 0 })
  }
  const dead = store.dead.get(shard)?.find(sortKey)
  if (dead !== undefined) {
    store.dead.get(shard)?.remove(sortKey)
    leaveTombstone()
    return recallAnswer(dead.lease, now) === 'possibly-delivered' ? 'possibly-delivered' : 'recalled'
  }
  if (dueAt <= now) return 'too-late'
  leaveTombstone()
  return 'not-found'
}
