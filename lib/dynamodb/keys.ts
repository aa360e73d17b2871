import { hashText } from '../core/ids.js'
import { formatInstant, INSTANT_DIGITS } from '../core/lease.js'
import type { RowAddress } from '../core/persistence.js'
import { tableSchema } from '../wiring/table.js'
import type { Item } from './table.js'

/** The key of an item. This file alone knows what keys look like. */
export interface ItemKey {
  readonly pk: string
  readonly sk: string
}

/** The partition of a shard's due rows: one consistent query at its head finds whatever is overdue, at any age. */
export const duePartition = (shard: number): string => `due#${shard}`

/** The partition of a shard's dead rows. */
export const deadPartition = (shard: number): string => `dead#${shard}`

const sortKeyOf = ({ dueAt, rowId }: Omit<RowAddress, 'shard'>): string => `${formatInstant(dueAt)}#${rowId}`

/** The key of a due row. */
export const dueKey = (address: RowAddress): ItemKey => ({ pk: duePartition(address.shard), sk: sortKeyOf(address) })

/** The key of a dead row: the due row's sort key in the partition of the dead. */
export const deadKey = (address: RowAddress): ItemKey => ({ pk: deadPartition(address.shard), sk: sortKeyOf(address) })

/** The sort key of a body: two different envelopes of one row never share a body, so none is ever rewritten. */
export const bodySortKey = (dueAt: number, envelopeText: string): string =>
  `${formatInstant(dueAt)}#${hashText(envelopeText)}`

/** The key of a row's body. */
export const bodyKey = (rowId: string, sk: string): ItemKey => ({ pk: `body#${rowId}`, sk })

/** The key of what tells where a moved row is now: the same for all addresses that it ever had. */
export const movedKey = ({ rowId, dueAt, firstDueAt = dueAt }: RowAddress): ItemKey => ({
  pk: `moved#${rowId}`,
  sk: formatInstant(firstDueAt),
})

/** The key of what a message key points at. */
export const aliasKey = (key: string): ItemKey => ({ pk: `${ALIAS_PARTITION}${key}`, sk: 'key' })

/** Whether an item's key is that of an alias. */
export const isAliasKey = ({ pk }: ItemKey): boolean => pk.startsWith(ALIAS_PARTITION)

const ALIAS_PARTITION = 'key#'

/** An address without the rest of a row. */
export const addressOf = ({ shard, dueAt, rowId, firstDueAt }: RowAddress): RowAddress => ({
  shard,
  dueAt,
  rowId,
  ...(firstDueAt !== undefined && firstDueAt !== dueAt && { firstDueAt }),
})

/** The key of a control item. */
export const controlKey = (name: 'shards' | 'worker' | 'paused'): ItemKey => ({ pk: 'control', sk: name })

/** Comes after every digit. */
const AFTER_ALL = ':'

/** Every sort key below this belongs to a row with `dueAt <= dueBefore`, and no other does. */
export const firstSortKeyAfter = (dueBefore: number): string => {
  const next = formatInstant(Math.max(0, Math.floor(dueBefore) + 1))
  return next.length > INSTANT_DIGITS || !Number.isFinite(dueBefore) ? AFTER_ALL : next
}

/** What a sort key says of a row; `undefined` if it is none of ours. */
export const parseSortKey = (sk: string): Omit<RowAddress, 'shard'> | undefined => {
  const rowId = sk.slice(INSTANT_DIGITS + 1)
  const instant = sk.slice(0, INSTANT_DIGITS)
  if (rowId === '' || sk.charAt(INSTANT_DIGITS) !== '#' || !/^\d+$/.test(instant)) return undefined
  return { dueAt: Number(instant), rowId }
}

/** The id of the message that a row delivers: a redelivery's row is named `<messageId>~<receiver>~<attempt>`. */
export const messageIdOf = (rowId: string): string => {
  const end = rowId.indexOf('~')
  return end < 0 ? rowId : rowId.slice(0, end)
}

/** The key as the SDK takes it. */
export const toKeyItem = (key: ItemKey): Item => ({
  [tableSchema.partitionKey]: { S: key.pk },
  [tableSchema.sortKey]: { S: key.sk },
})

/** The key of an item that was read. */
export const keyOfItem = (item: Item): ItemKey => ({
  pk: item[tableSchema.partitionKey]?.S ?? '',
  sk: item[tableSchema.sortKey]?.S ?? '',
})

/** A key as one text, to look items up by. Keys hold no line break. */
export const keyText = (key: ItemKey): string => `${key.pk}\n${key.sk}`
