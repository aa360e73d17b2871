import type { PutBackOutcome } from '../core/inspection.js'
import { arrived } from '../core/lease.js'
import type { RowAddress } from '../core/persistence.js'
import { locateRow } from './locate-row.js'
import { freeAddress } from './reschedule-message.js'
import { addressOf, chainOf, type DeadEntry, forgetRow, type MemoryStore, rowsOf, sortKeyOf } from './rows.js'
import { findHolder } from './store-under-key.js'

const findDead = (store: MemoryStore, address: RowAddress): DeadEntry | undefined => {
  const found = locateRow(store, address)
  return found.at === 'dead' ? found.row : undefined
}

/** Lets a dead row wait again, without its failures. */
export const putBackRow = (store: MemoryStore, address: RowAddress, dueAt: number, now: number): PutBackOutcome => {
  const dead = findDead(store, address)
  if (dead === undefined) return { outcome: 'not-found' }
  const key = dead.about?.key
  const holder = key === undefined ? undefined : findHolder(store, key, now)
  if (holder !== undefined) return { outcome: 'key-taken', by: addressOf(holder) }
  const to = freeAddress(store, dead, dueAt)
  const { reason: _, diedAt: __, firstDueAt: ___, ...content } = dead
  store.dead.get(dead.shard)?.remove(dead.sortKey)
  rowsOf(store.due, dead.shard).remove(sortKeyOf(to))
  const lease = arrived(dead.lease, store.newToken())
  rowsOf(store.due, dead.shard).insert({ ...content, ...to, sortKey: sortKeyOf(to), lease, failures: 0 })
  store.moved.set(chainOf(dead), to)
  if (key !== undefined) store.keys.set(key, to)
  return { outcome: 'put-back', address: to }
}

/** Removes a dead row for good. */
export const purgeRow = (store: MemoryStore, address: RowAddress): boolean => {
  const dead = findDead(store, address)
  if (dead === undefined) return false
  store.dead.get(dead.shard)?.remove(dead.sortKey)
  forgetRow(store, dead)
  return true
}
