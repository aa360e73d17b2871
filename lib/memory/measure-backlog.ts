import { claimableFrom } from '../core/lease.js'
import type { Backlog } from '../core/persistence.js'
import type { MemoryStore } from './rows.js'

/** Counts the rows due at `now` that were neither dispatched nor recalled, and the dead ones. Counts all; never capped. */
export const measureBacklog = (store: MemoryStore, now: number): Backlog => {
  let due = 0
  let oldestDueAt: number | undefined
  for (const rows of store.due.values()) {
    for (const row of rows.values()) {
      if (row.dueAt > now) break
      if (claimableFrom(row.lease) === undefined) continue
      due++
      if (oldestDueAt === undefined || row.dueAt < oldestDueAt) oldestDueAt = row.dueAt
    }
  }
  let dead = 0
  for (const rows of store.dead.values()) dead += rows.size()
  return { due, capped: false, oldestDueAt, dead }
}
