import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { arriving, formatLease, movedAway } from '../core/lease.js'
import type { RowAddress } from '../core/persistence.js'
import { attemptWrite } from './attempt-write.js'
import { type NewRow, type Row, readRow } from './attributes.js'
import { prolongBody, storeBodies } from './bodies.js'
import { type Operation, toStoreError } from './failures.js'
import { finishMove } from './finish-move.js'
import { prolongAlias } from './key-alias.js'
import { deadPartition, dueKey, toKeyItem } from './keys.js'
import { formatReplacement, type Origin, toArrivingItem } from './move-attributes.js'
import { readItem } from './read-items.js'
import { removeItem } from './swap-register.js'
import type { Item, Table } from './table.js'

/** A row that is to be at another address, or to give way to another message's row. */
export interface Move {
  readonly operation: Operation
  /** The row as it was seen; its register decides. */
  readonly from: Row
  readonly to: RowAddress
  /** The row that arrives, and its body where that is new. */
  readonly arriving: NewRow
  /** The row is another message's: the old one is withdrawn by the same write. */
  readonly isReplacement: boolean
  /** A row at the new address that has moved away itself, and may be written over. */
  readonly over?: Row
  /** What else has to be so for the move to be made, done once the new row is there. `false`: the move is not made. */
  readonly prepare?: () => Promise<boolean>
}

/** What became of a move. */
export type MoveResult =
  | { readonly result: 'moved' }
  /** The row was changed since it was seen: nothing was moved. */
  | { readonly result: 'lost' }
  /** Another row is at the new address: nothing was moved. */
  | { readonly result: 'taken'; readonly by: Row | undefined }

/** Writes a row that is not in force until its origin says so. Answers what is in its place if it can't. */
export const insertArriving = async (
  table: Table,
  operation: Operation,
  to: RowAddress,
  item: Item,
  over?: Row,
): Promise<MoveResult | undefined> => {
  const key = dueKey(to)
  const look = async () => readItem(table, operation, key)
  const made = await attemptWrite(
    table,
    operation,
    () =>
      table.client.send(
        new PutItemCommand({
          TableName: table.tableName,
          Item: item,
          ...(over === undefined
            ? { ConditionExpression: 'attribute_not_exists(pk)' }
            : {
                ConditionExpression: 'lease = :over',
                ExpressionAttributeValues: { ':over': over.item.lease ?? { S: '' } },
              }),
        }),
      ),
    async () => (await look())?.lease?.S === item.lease?.S,
  )
  if (made === 'made') return undefined
  const found = await look()
  return { result: 'taken', by: found === undefined ? undefined : readRow(found, to.shard) }
}

/** The write that makes the move: whoever saw the row's register before can't claim, settle or withdraw it any more. */
const leave = async (table: Table, { operation, from, to, isReplacement }: Move, lease: string) =>
  attemptWrite(
    table,
    operation,
    () =>
      table.client.send(
        new UpdateItemCommand({
          TableName: table.tableName,
          Key: toKeyItem(from.key),
          UpdateExpression: isReplacement
            ? 'SET lease = :next, movedTo = :to REMOVE envelope, bodyRef'
            : 'SET lease = :next',
          ConditionExpression: 'lease = :seen',
          ExpressionAttributeValues: {
            ':next': { S: lease },
            ':seen': from.item.lease ?? { S: '' },
            ...(isReplacement && { ':to': { S: formatReplacement(to) } }),
          },
        }),
      ),
    async () => (await readItem(table, operation, from.key))?.lease?.S === lease,
  )

const storeBody = async (table: Table, { operation, arriving: { body }, to }: Move): Promise<void> => {
  if (body === undefined) return
  const [stored] = await storeBodies(table, operation, [{ body, dueAt: to.dueAt }])
  if (stored?.result === 'failed') throw stored.error
}

/** What belongs to the row stays as long as its new place needs it. What belongs to a dead row has no end yet. */
const prolong = async (table: Table, { from, to, isReplacement }: Move): Promise<void> => {
  if (isReplacement || from.key.pk === deadPartition(from.shard)) return
  await Promise.all([prolongBody(table, from, to.dueAt), prolongAlias(table, from, to.dueAt)])
}

/** Removes a row that arrived for a move which was not made. One that can't be removed now is found when it is due. */
export const takeBack = async (table: Table, operation: Operation, to: RowAddress, lease: string): Promise<void> => {
  try {
    await removeItem(table, operation, dueKey(to), lease)
  } catch (error) {
    table.logger.warn('what is left of a move that was not made could not be removed; a pass finds it when it is due', {
      rowId: to.rowId,
      error: String(error),
    })
  }
}

/**
 * Moves a row without a transaction. The row is written at its new address, not in force; **one write, of the old row's
 * register, makes the move**; then the new row is put in force. A crash before that write leaves a row that never comes into
 * force and is removed by whoever meets it; a crash after it leaves a move that whoever meets either row finishes. So there
 * is one row in force at any time, or one about to be.
 *
 * All writes after the first one swap a register that was seen, so none of them, however late, brings back a row that was
 * dispatched meanwhile.
 * @throws PostdateError `persistence.unavailable` (made or not: a look tells), `.access-denied`, `.misconfigured`
 */
export const moveRow = async (table: Table, move: Move): Promise<MoveResult> => {
  const { operation, from, to } = move
  const token = table.newToken()
  const origin: Origin = { key: from.key, seen: from.item.lease?.S ?? '' }
  const arrival = formatLease(arriving(token))
  try {
    await storeBody(table, move)
    await prolong(table, move)
  } catch (error) {
    throw toStoreError(table, operation, error)
  }
  const item = toArrivingItem(move.arriving.row, origin, arrival)
  const taken = await insertArriving(table, operation, to, item, move.over)
  if (taken !== undefined) return taken
  const away = formatLease(movedAway(to.dueAt, token))
  const isPrepared = move.prepare === undefined || (await move.prepare())
  if (!isPrepared || (await leave(table, move, away)) === 'refused') {
    await takeBack(table, operation, to, arrival)
    return { result: 'lost' }
  }
  const stub: Row = { ...from, lease: movedAway(to.dueAt, token), item: withRegister(move, away) }
  try {
    await finishMove(table, stub)
  } catch (error) {
    table.logger.warn('a row was moved and its new one is not yet in force; whoever meets it goes on', {
      rowId: to.rowId,
      error: String(error),
    })
  }
  return { result: 'moved' }
}

const withRegister = ({ from, to, isReplacement }: Move, lease: string): Item => ({
  ...from.item,
  lease: { S: lease },
  ...(isReplacement && { movedTo: { S: formatReplacement(to) } }),
})
