import { isMovedAway } from '../core/lease.js'
import type { RowAddress } from '../core/persistence.js'
import { chainOf, type DeadEntry, type MemoryStore, type Row, sortKeyOf } from './rows.js'

/** What is to be found under an address: the row, whether it waits or is dead, or where it would be. */
export type Found =
  | { readonly at: 'due'; readonly row: Row }
  | { readonly at: 'dead'; readonly row: DeadEntry }
  /** `wasMoved`: there was one, and it is gone. */
  | { readonly at: 'none'; readonly address: RowAddress; readonly wasMoved: boolean }

/** Finds the row of an address, wherever it was moved. */
export const locateRow = (store: MemoryStore, address: RowAddress): Found => {
  const sortKey = sortKeyOf(address)
  const row = store.due.get(address.shard)?.find(sortKey)
  if (row !== undefined && !isMovedAway(row.lease)) return { at: 'due', row }
  // A row that was moved back to where it had been comes first; of all others the last move tells.
  const moved = store.moved.get(chainOf(row ?? address))
  if (moved !== undefined && sortKeyOf(moved) !== sortKey) return locateRow(store, moved)
  const dead = store.dead.get(address.shard)?.find(sortKey)
  if (dead !== undefined) return { at: 'dead', row: dead }
  return { at: 'none', address, wasMoved: row !== undefined }
}
