import { type Envelope, type EnvelopeIdentity, encodeEnvelope, utf8Bytes } from '../core/envelope.js'
import { formatInstant, type Lease } from '../core/lease.js'
import type { MessageKind } from '../core/message.js'
import type { OutgoingMessage, RowAddress } from '../core/persistence.js'
import { createSortedRows, type SortedRows } from './sorted-rows.js'

/** What a row keeps of its message: text, so that nothing is shared by reference with whoever stored or claimed it. */
export interface StoredMessage {
  readonly identity: EnvelopeIdentity
  /** As `encodeEnvelope` wrote it. */
  readonly text: string
  /** The bytes of the text. */
  readonly bytes: number
  readonly target: string | undefined
  readonly attempt: number
}

/** What operators find a row by. */
export interface RowAbout {
  readonly kind: MessageKind
  readonly name: string
  readonly correlationId: string
  readonly key: string | undefined
}

/** A row of a shard. Every write that changes anything in it changes its register too. */
export interface Row extends RowAddress {
  /** Orders the rows of a shard: `<dueAt, 15 digits>#<rowId>`. */
  readonly sortKey: string
  /** `undefined` once it was recalled. */
  message: StoredMessage | undefined
  /** What operators find it by, also once it was recalled; `undefined` where there was no message. */
  readonly about: RowAbout | undefined
  lease: Lease
  /** How many publishes failed for a reason that lies in this row. */
  failures: number
}

/** A row that was given up on. */
export interface DeadEntry extends Row {
  readonly message: StoredMessage
  readonly reason: string
  readonly diedAt: number
}

/** The sort key of an address. */
export const sortKeyOf = ({ dueAt, rowId }: RowAddress): string => `${formatInstant(dueAt)}#${rowId}`

/** What a row tells of a message once that is gone. */
export const describeMessage = ({ envelope, key }: OutgoingMessage): RowAbout => ({
  kind: envelope.kind,
  name: envelope.name,
  correlationId: envelope.correlationId,
  key,
})

/** What a row keeps of a message. */
export const toStoredMessage = ({ envelope, target, attempt }: OutgoingMessage): StoredMessage => {
  const text = encodeEnvelope(envelope)
  return { identity: identityOf(envelope), text, bytes: utf8Bytes(text), target, attempt: attempt ?? 1 }
}

const identityOf = ({ messageId, kind, name, sentAt }: Envelope): EnvelopeIdentity => ({
  messageId,
  kind,
  name,
  sentAt,
})

/** All that a store in memory holds. */
export interface MemoryStore {
  /** A new token of a lease register. */
  readonly newToken: () => string
  /** The due rows by shard. */
  readonly due: Map<number, SortedRows<Row>>
  /** The dead rows by shard. */
  readonly dead: Map<number, SortedRows<DeadEntry>>
  /** Where rows that were moved are now, by `chainOf`; as long as they wait or are dead. */
  readonly moved: Map<string, RowAddress>
  /** The row that was last stored under a key; a pointer to be checked. */
  readonly keys: Map<string, RowAddress>
}

/** Forgets what led to a row that is gone: where it was moved, and its key unless a newer message has it. */
export const forgetRow = (store: MemoryStore, row: Row): void => {
  store.moved.delete(chainOf(row))
  const key = row.about?.key
  if (key !== undefined && store.keys.get(key)?.rowId === row.rowId) store.keys.delete(key)
}

/** Names a row through all its moves. */
export const chainOf = ({ rowId, dueAt, firstDueAt = dueAt }: RowAddress): string =>
  `${formatInstant(firstDueAt)}#${rowId}`

/** The address of a row, without the rest of it. */
export const addressOf = ({ shard, dueAt, rowId, firstDueAt }: RowAddress): RowAddress => ({
  shard,
  dueAt,
  rowId,
  ...(firstDueAt !== undefined && firstDueAt !== dueAt && { firstDueAt }),
})

/** The rows of a shard, made when it has none yet. */
export const rowsOf = <T extends Row>(shards: Map<number, SortedRows<T>>, shard: number): SortedRows<T> => {
  const found = shards.get(shard)
  if (found !== undefined) return found
  const made = createSortedRows<T>()
  shards.set(shard, made)
  return made
}
