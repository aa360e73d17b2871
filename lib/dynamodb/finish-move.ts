import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { arrived, formatLease, type Lease, movedForGood, neverClaimed, parseLease, renewed } from '../core/lease.js'
import { attemptOnce } from './attempt-write.js'
import { type Row, readRow } from './attributes.js'
import { followReplacement, renewAlias } from './key-alias.js'
import { deadPartition, dueKey, type ItemKey, isAliasKey, keyText, movedKey, toKeyItem } from './keys.js'
import { destinationOf, readOrigin, replacementOf, toPointer } from './move-attributes.js'
import { readItem } from './read-items.js'
import { removeItem, swapRegister } from './swap-register.js'
import type { Item, Table } from './table.js'

const OPERATION = 'reschedule a message'

/** How often the origin of an arriving row is looked at again after another came first. */
const MOST_LOOKS = 5

/** Whether a row is one that a move has written and not yet put in force. */
export const isArriving = (row: Row): boolean => row.lease?.state === 'a'

/** Whether a row has moved away, and its new one may not be in force yet. */
export const isLeaving = (row: Row): boolean => row.lease?.state === 't'

/** Puts a row in force. Another may have done it before. @throws what the SDK throws */
export const putInForce = async (table: Table, row: Row, from: Lease): Promise<void> => {
  await attemptOnce(() =>
    table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: toKeyItem(row.key),
        UpdateExpression: 'SET lease = :next REMOVE movedFrom',
        ConditionExpression: 'lease = :seen',
        ExpressionAttributeValues: {
          ':next': { S: formatLease(arrived(from, table.newToken())) },
          ':seen': row.item.lease ?? { S: '' },
        },
      }),
    ),
  )
}

/**
 * Notes where a moved row is now, for those who come with an older address after the old row is gone. A later move's note
 * stays.
 */
const notePlace = async (table: Table, row: Row): Promise<void> => {
  const { key, values } = toPointer(row)
  await attemptOnce(() =>
    table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: toKeyItem(key),
        UpdateExpression: 'SET dueAt = :dueAt, moves = :moves, expiresAt = :expiresAt',
        ConditionExpression: 'attribute_not_exists(pk) OR moves < :moves',
        ExpressionAttributeValues: values,
      }),
    ),
  )
}

/** The register that a row had before it moved; of one that can't be told, nobody knows whether it was published. */
const registerBefore = (row: Row): Lease =>
  parseLease(readOrigin(row)?.seen ?? '') ?? { ...neverClaimed(''), state: 'u' }

/**
 * Finishes a move that was made: the new row is put in force, its place is noted, and the old row is marked as done with (a
 * dead one is removed). Every step may be repeated, by anyone, at any time.
 * @throws what the SDK throws; whoever meets either row goes on.
 */
export const finishMove = async (table: Table, stub: Row): Promise<void> => {
  const to = destinationOf(stub)
  const item = await readItem(table, OPERATION, dueKey(to))
  const row = item === undefined ? undefined : readRow(item, to.shard)
  // No row: it was put in force, and is dispatched already.
  if (row !== undefined) {
    const isMine = isArriving(row) && row.lease?.token === stub.lease?.token
    const isReplacement = replacementOf(stub) !== undefined
    const key = isReplacement ? row.item.key?.S : undefined
    await Promise.all([
      isMine ? putInForce(table, row, isReplacement ? neverClaimed('') : registerBefore(row)) : undefined,
      key === undefined ? undefined : followReplacement(table, key, stub, to),
      // After a row that was dispatched another may have been stored here, which is not the one that moved.
      keyText(movedKey(row)) === keyText(movedKey(stub)) ? notePlace(table, row) : undefined,
    ])
  }
  await leaveForGood(table, stub)
}

const leaveForGood = async (table: Table, { key, shard, item, lease }: Row): Promise<void> => {
  const seen = item.lease?.S
  if (lease === undefined || seen === undefined) return
  if (key.pk === deadPartition(shard)) await removeItem(table, OPERATION, key, seen)
  else await swapRegister(table, OPERATION, key, seen, formatLease(movedForGood(lease, table.newToken())))
}

/** The row of an item, by its key alone: those of due rows and of dead ones. */
const rowOfItem = (key: ItemKey, item: Item | undefined): Row | undefined =>
  item === undefined ? undefined : readRow(item, Number(key.pk.slice(key.pk.indexOf('#') + 1)))

/**
 * Settles what becomes of an arriving row. Its move was made: then it is finished. It was not: then, where `breakOff` says so, it
 * is made impossible and the row removed. Answers whether the row may be in force now.
 * @throws what the SDK throws; the next one that meets the row goes on.
 */
export const settleArrival = async (table: Table, row: Row, breakOff = true): Promise<boolean> => {
  const origin = readOrigin(row)
  if (origin === undefined) {
    // Nobody can tell any more; rather twice than never.
    await putInForce(table, row, registerBefore(row))
    return true
  }
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const item = await readItem(table, OPERATION, origin.key)
    const register = item?.lease?.S ?? ''
    const lease = parseLease(register)
    if (lease?.state === 't' && lease.token === row.lease?.token) {
      const from = isAliasKey(origin.key) ? undefined : rowOfItem(origin.key, item)
      await (from === undefined ? putInForce(table, row, neverClaimed('')) : finishMove(table, from))
      return true
    }
    if (register !== origin.seen) {
      // The register that the move had seen is gone, and none ever comes again: the move can't be made any more.
      await removeItem(table, OPERATION, row.key, row.item.lease?.S ?? '')
      return false
    }
    if (!breakOff) return false
    // Whoever is still about to make the move finds another register.
    if (isAliasKey(origin.key)) await renewAlias(table, OPERATION, origin, row.dueAt)
    else if (lease !== undefined)
      await swapRegister(table, OPERATION, origin.key, origin.seen, formatLease(renewed(lease, table.newToken())))
  }
  return false
}
