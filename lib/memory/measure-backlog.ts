import { decodeEnvelope } from '../core/envelope.js'
import { claimableFrom } from '../core/lease.js'
import type { Backlog, DeadRow } from '../core/persistence.js'
import { addressOf, type DeadEntry, type MemoryStore } from './rows.js'

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

const toDeadRow = (entry: DeadEntry): DeadRow => ({
  ...addressOf(entry),
  envelope: decodeEnvelope(entry.message.text, entry.message.identity),
  reason: entry.reason,
  diedAt: entry.diedAt,
  failures: entry.failures,
})

/** The dead rows, those due first first, at most so many. */
export const listDead = (store: MemoryStore, limit: number): readonly DeadRow[] => {
  const entries: DeadEntry[] = []
  for (const rows of store.dead.values()) {
    let taken = 0
    for (const entry of rows.values()) {
      if (taken++ >= limit) break
      entries.push(entry)
    }
  }
  entries.sort((one, other) => (one.sortKey < other.sortKey ? -1 : 1))
  return entries.slice(0, limit).map(toDeadRow)
}
