import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { formatLease, movedAway, parseLease, renewed } from '../core/lease.js'
import type { RowAddress } from '../core/persistence.js'
import { attemptOnce, attemptWrite } from './attempt-write.js'
import { expiryOf, type Row } from './attributes.js'
import type { Operation } from './failures.js'
import { aliasKey, type ItemKey, toKeyItem } from './keys.js'
import { readItem } from './read-items.js'
import { swapRegister } from './swap-register.js'
import type { Item, Table } from './table.js'

/** What a key points at: a row that has to be looked at, never the truth. */
export interface KeyAlias {
  readonly key: ItemKey
  /** Its register, new at every write; empty where there is no alias yet. */
  readonly seen: string
  readonly address: RowAddress | undefined
}

const readNumber = (item: Item, name: string): number | undefined => {
  const value = Number(item[name]?.N ?? Number.NaN)
  return Number.isSafeInteger(value) ? value : undefined
}

const readAddress = (item: Item): RowAddress | undefined => {
  const [shard, dueAt] = ['shard', 'dueAt'].map((name) => readNumber(item, name))
  const rowId = item.rowId?.S
  return shard === undefined || dueAt === undefined || rowId === undefined ? undefined : { shard, dueAt, rowId }
}

/** Reads the alias of a key consistently. @throws PostdateError `persistence.*` */
export const readAlias = async (table: Table, operation: Operation, key: string): Promise<KeyAlias> => {
  const item = await readItem(table, operation, aliasKey(key))
  return { key: aliasKey(key), seen: item?.lease?.S ?? '', address: item === undefined ? undefined : readAddress(item) }
}

/** What an alias holds that points at a row; it stays as long as what belongs to the row does. */
const toAliasItem = ({ shard, dueAt, rowId }: RowAddress, lease: string): Item => ({
  lease: { S: lease },
  shard: { N: String(shard) },
  dueAt: { N: String(dueAt) },
  rowId: { S: rowId },
  expiresAt: { N: String(expiryOf(dueAt)) },
})

const putAlias = (table: Table, key: ItemKey, item: Item, condition: string, values: Item = {}) =>
  table.client.send(
    new PutItemCommand({
      TableName: table.tableName,
      Item: { ...toKeyItem(key), ...item },
      ConditionExpression: condition,
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    }),
  )

/** Whether an alias has this register. */
const hasRegister = (table: Table, operation: Operation, key: ItemKey, lease: string) => async () =>
  (await readItem(table, operation, key))?.lease?.S === lease

/** Lets a key point at a row that arrives, if its alias is still what was seen: that puts the row in force. */
export const takeAlias = (
  table: Table,
  operation: Operation,
  { key, seen }: KeyAlias,
  to: RowAddress,
  lease: string,
): Promise<'made' | 'refused'> => {
  const item = toAliasItem(to, lease)
  return attemptWrite(
    table,
    operation,
    () =>
      seen === ''
        ? putAlias(table, key, item, 'attribute_not_exists(pk)')
        : putAlias(table, key, item, 'lease = :seen', { ':seen': { S: seen } }),
    hasRegister(table, operation, key, lease),
  )
}

/** Lets a key follow a row that gave way to another, unless it points elsewhere already. @throws what the SDK throws */
export const followReplacement = (table: Table, key: string, from: Row, to: RowAddress): Promise<void> => {
  const item = toAliasItem(to, formatLease(movedAway(to.dueAt, table.newToken())))
  return attemptOnce(() => putAlias(table, aliasKey(key), item, 'rowId = :from', { ':from': { S: from.rowId } }))
}

/**
 * Lets the alias of a row's key stay for a due instant (epoch milliseconds) later than it was made for, before the row moves:
 * a key whose alias has left seems free.
 * @throws what the SDK throws
 */
export const prolongAlias = (table: Table, row: Row, dueAt: number): Promise<void> => {
  const key = row.item.key?.S
  if (key === undefined || dueAt <= row.dueAt) return Promise.resolve()
  return attemptOnce(() =>
    table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: toKeyItem(aliasKey(key)),
        UpdateExpression: 'SET expiresAt = :expiresAt',
        ConditionExpression: 'rowId = :rowId AND expiresAt < :expiresAt',
        ExpressionAttributeValues: { ':rowId': { S: row.rowId }, ':expiresAt': { N: String(expiryOf(dueAt)) } },
      }),
    ),
  )
}

/** Makes it impossible to take an alias by the register that was seen. `false`: it has another one by now. */
export const renewAlias = async (
  table: Table,
  operation: Operation,
  { key, seen }: Pick<KeyAlias, 'key' | 'seen'>,
  dueAt: number,
): Promise<boolean> => {
  const lease = parseLease(seen)
  if (lease !== undefined)
    return swapRegister(table, operation, key, seen, formatLease(renewed(lease, table.newToken())))
  const register = formatLease(movedAway(dueAt, table.newToken()))
  const item: Item = { lease: { S: register }, expiresAt: { N: String(expiryOf(dueAt)) } }
  const made = await attemptWrite(
    table,
    operation,
    () => putAlias(table, key, item, 'attribute_not_exists(pk)'),
    hasRegister(table, operation, key, register),
  )
  return made === 'made'
}
