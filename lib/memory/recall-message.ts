import { recallAnswer, withdrawn } from '../core/lease.js'
import type { RecallOutcome, RowAddress } from '../core/persistence.js'
import { locateRow } from './locate-row.js'
import { addressOf, type MemoryStore, type RowAbout, rowsOf, sortKeyOf } from './rows.js'

/** Leaves a withdrawn row where none is. */
const leaveTombstone = (store: MemoryStore, address: RowAddress, now: number, about?: RowAbout): void => {
  const lease = withdrawn(now, store.newToken())
  const sortKey = sortKeyOf(address)
  const row = { ...addressOf(address), sortKey, lease, message: undefined, failures: 0, about }
  rowsOf(store.due, address.shard).insert(row)
}

/** Withdraws a row, if it is still to be had. */
export const recallMessage = (store: MemoryStore, address: RowAddress, now: number): RecallOutcome => {
  const found = locateRow(store, address)
  if (found.at === 'due') {
    const { row } = found
    const answer = recallAnswer(row.lease, now)
    if (answer === 'recalled' || answer === 'possibly-delivered') {
      row.lease = withdrawn(now, store.newToken())
      row.message = undefined
    }
    return answer
  }
  if (found.at === 'dead') {
    const { row } = found
    store.dead.get(row.shard)?.remove(row.sortKey)
    if (store.due.get(row.shard)?.find(row.sortKey) === undefined) leaveTombstone(store, row, now, row.about)
    return recallAnswer(row.lease, now) === 'possibly-delivered' ? 'possibly-delivered' : 'recalled'
  }
  if (found.wasMoved || address.dueAt <= now) return 'too-late'
  leaveTombstone(store, address, now)
  return 'not-found'
}
