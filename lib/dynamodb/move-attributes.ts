import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { utf8Bytes } from '../core/envelope.js'
import { LONGEST_LEASE_BYTES } from '../core/lease.js'
import type { RowAddress } from '../core/persistence.js'
import { dynamoDbLimits } from '../wiring/limits.js'
import { expiryOf, formatBodyRef, type NewRow, type Row } from './attributes.js'
import { itemBytes } from './item-size.js'
import { bodyKey, bodySortKey, dueKey, type ItemKey, movedKey, toKeyItem } from './keys.js'
import type { Item } from './table.js'

/** What makes a move: an item, and the register that it had before. The move is made when that register is swapped. */
export interface Origin {
  readonly key: ItemKey
  /** Empty for an item that was not there. */
  readonly seen: string
}

const number = (value: number): AttributeValue => ({ N: String(value) })

const readNumber = (value: AttributeValue | undefined): number | undefined =>
  value?.N === undefined ? undefined : Number(value.N)

/** What a row does not take along when it moves: its place, its register, and how it died. */
const LEFT_BEHIND = ['pk', 'sk', 'lease', 'movedFrom', 'movedTo', 'reason', 'diedAt', 'withdrawnAt', 'withdrew']

/** How often a row was moved before. */
const movesOf = ({ item }: Row): number => readNumber(item.moves) ?? 0

/**
 * The row that a row becomes at another address, without a register. What was thin may be too thick with the attributes that
 * a move adds: its envelope then goes to a body.
 */
export const toMovedRow = (row: Row, to: RowAddress): NewRow => {
  const kept = Object.fromEntries(Object.entries(row.item).filter(([name]) => !LEFT_BEHIND.includes(name)))
  const item: Item = {
    ...kept,
    ...toKeyItem(dueKey(to)),
    firstDueAt: number(to.firstDueAt ?? to.dueAt),
    moves: number(movesOf(row) + 1),
  }
  const isThin = itemBytes(item) + 'lease'.length + LONGEST_LEASE_BYTES <= dynamoDbLimits.writeUnitBytes
  if (isThin || row.content.kind !== 'inline') return { row: item, body: undefined }
  const { text } = row.content
  const { envelope: _, ...lean } = item
  const sk = bodySortKey(to.dueAt, text)
  const bodyRef = { S: formatBodyRef({ sk, bytes: utf8Bytes(text) }) }
  return { row: { ...lean, bodyRef }, body: { key: bodyKey(to.rowId, sk), text } }
}

/** Writes a row that arrives: what it will be, its origin, and the register of the move. */
export const toArrivingItem = (row: Item, { key, seen }: Origin, lease: string): Item => ({
  ...row,
  lease: { S: lease },
  movedFrom: { S: JSON.stringify([key.pk, key.sk, seen]) },
})

/** Reads where an arriving row comes from; `undefined` if that can't be read. */
export const readOrigin = ({ item }: Row): Origin | undefined => {
  try {
    const [pk, sk, seen] = JSON.parse(item.movedFrom?.S ?? '') as unknown[]
    if (typeof pk === 'string' && typeof sk === 'string' && typeof seen === 'string') return { key: { pk, sk }, seen }
  } catch {
    // Not ours; the caller knows what to do with a row that does not say where it comes from.
  }
  return undefined
}

/** Writes the address of another message's row, which takes the place of this one. */
export const formatReplacement = ({ shard, dueAt, rowId }: RowAddress): string => JSON.stringify([shard, dueAt, rowId])

/** The row of the other message that took the place of this one; `undefined` if it was only moved, or that can't be read. */
export const replacementOf = ({ item }: Row): RowAddress | undefined => {
  if (item.movedTo?.S === undefined) return undefined
  const [shard, dueAt, rowId] = JSON.parse(item.movedTo.S) as [number, number, string]
  return { shard, dueAt, rowId }
}

/** The address that a row moved away to. */
export const destinationOf = (row: Row): RowAddress =>
  replacementOf(row) ?? {
    shard: row.shard,
    dueAt: row.lease?.until ?? row.dueAt,
    rowId: row.rowId,
    firstDueAt: row.firstDueAt ?? row.dueAt,
  }

/** Where rows that were moved are now: read only when the row of an address is missing. */
export const toPointer = (row: Row): { readonly key: ItemKey; readonly values: Item } => ({
  key: movedKey(row),
  values: {
    ':dueAt': number(row.dueAt),
    ':moves': number(movesOf(row)),
    ':expiresAt': number(expiryOf(row.dueAt)),
  },
})

/** The instant that a pointer leads to, epoch milliseconds. */
export const readPointer = (item: Item): number | undefined => readNumber(item.dueAt)
