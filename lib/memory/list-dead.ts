import { decodeEnvelope } from '../core/envelope.js'
import type { DeadRow } from '../core/inspection.js'
import { addressOf, type DeadEntry, type MemoryStore } from './rows.js'

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
