import { contentOf, decodeEnvelope } from '../core/envelope.js'
import type { KeyedMessage, KeyedOutcome, Keys } from '../core/keys.js'
import { recallAnswer, withdrawn } from '../core/lease.js'
import type { RowAddress } from '../core/persistence.js'
import { locateRow } from './locate-row.js'
import { addressOf, type MemoryStore, type Row } from './rows.js'
import { storeMessage } from './store-messages.js'

/** The row that holds a key, if it waits: one that is leased is being delivered. */
export const findHolder = (store: MemoryStore, key: string, now: number): Row | undefined => {
  const address = store.keys.get(key)
  const found = address === undefined ? undefined : locateRow(store, address)
  if (found?.at !== 'due') return undefined
  const answer = recallAnswer(found.row.lease, now)
  return answer === 'recalled' || answer === 'possibly-delivered' ? found.row : undefined
}

const isSame = (row: Row, { envelope }: KeyedMessage): boolean =>
  row.message !== undefined && contentOf(decodeEnvelope(row.message.text, row.message.identity)) === contentOf(envelope)

/** Stores a message under its key. */
export const storeUnderKey = (
  store: MemoryStore,
  message: KeyedMessage,
  ifScheduled: Parameters<Keys['storeUnderKey']>[1],
  now: number,
): KeyedOutcome => {
  const holder = findHolder(store, message.key, now)
  if (holder?.rowId === message.rowId)
    return isSame(holder, message) ? { outcome: 'duplicate', address: addressOf(holder) } : { outcome: 'conflict' }
  if (holder !== undefined && ifScheduled === 'keep') return { outcome: 'kept', address: addressOf(holder) }
  const dueAt = holder !== undefined && ifScheduled === 'replace-payload' ? holder.dueAt : message.dueAt
  const address: RowAddress = { shard: message.shard, dueAt, rowId: message.rowId }
  const { outcome } = storeMessage(store, { ...message, dueAt })
  if (outcome === 'duplicate') return { outcome, address }
  if (outcome !== 'stored') return outcome === 'recalled' ? { outcome } : { outcome: 'conflict' }
  store.keys.set(message.key, address)
  if (holder === undefined) return { outcome, address }
  holder.lease = withdrawn(now, store.newToken())
  holder.message = undefined
  return { outcome, address, replaced: addressOf(holder) }
}

/** Where the message is that was last stored under a key. */
export const findKey = (store: MemoryStore, key: string): RowAddress | undefined => {
  const address = store.keys.get(key)
  const found = address === undefined ? undefined : locateRow(store, address)
  return found === undefined || found.at === 'none' ? undefined : addressOf(found.row)
}
