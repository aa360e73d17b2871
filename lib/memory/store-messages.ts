import { contentOf, decodeEnvelope } from '../core/envelope.js'
import { neverClaimed } from '../core/lease.js'
import type { OutgoingMessage, StoreOutcome } from '../core/persistence.js'
import { locateRow } from './locate-row.js'
import { describeMessage, type MemoryStore, rowsOf, sortKeyOf, toStoredMessage } from './rows.js'

/** Stores one message, unless its key is taken: by the same message, by another, or by a recall. */
export const storeMessage = (store: MemoryStore, message: OutgoingMessage): StoreOutcome => {
  const { shard, dueAt, rowId, envelope } = message
  const rows = rowsOf(store.due, shard)
  const sortKey = sortKeyOf(message)
  const found = rows.find(sortKey)
  if (found === undefined) {
    const lease = neverClaimed(store.newToken())
    const content = { message: toStoredMessage(message), about: describeMessage(message) }
    rows.insert({ shard, dueAt, rowId, sortKey, lease, failures: 0, ...content })
    return { outcome: 'stored' }
  }
  // Of a row that moved, the one that it became counts.
  const current = locateRow(store, message)
  const isWithdrawn = current.at === 'due' && current.row.message === undefined
  if (found.message === undefined || isWithdrawn) return { outcome: 'recalled' }
  const kept = decodeEnvelope(found.message.text, found.message.identity)
  return { outcome: contentOf(kept) === contentOf(envelope) ? 'duplicate' : 'conflict' }
}
