import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { utf8Bytes } from '../core/envelope.js'
import { INSTANT_DIGITS } from '../core/lease.js'
import { attemptOnce } from './attempt-write.js'
import { expiryOf, type NewRow, type Row, toBodyItem } from './attributes.js'
import { isRefused, type Operation } from './failures.js'
import { bodyKey, type ItemKey, keyText, toKeyItem } from './keys.js'
import { readItems } from './read-items.js'
import type { Table } from './table.js'
import { type FinalResult, writeItems } from './write-items.js'

/** A body that a row needs, and when the row is due (epoch milliseconds). */
export interface NewBody {
  readonly body: NonNullable<NewRow['body']>
  readonly dueAt: number
}

/**
 * Stores bodies, each before its row. One that is there already is the same: its key holds the hash of its text. One
 * result per body, in order; never throws.
 */
export const storeBodies = async (
  table: Table,
  operation: Operation,
  bodies: readonly NewBody[],
): Promise<readonly Exclude<FinalResult, { result: 'refused' }>[]> => {
  const results = await writeItems(
    table,
    operation,
    bodies.map(({ body, dueAt }) => ({
      write: 'insert',
      key: body.key,
      item: toBodyItem(body.key, body.text, dueAt),
      bytes: utf8Bytes(body.text),
    })),
  )
  return results.map((result) => (result.result === 'refused' ? { result: 'done' } : result))
}

/** The key of a row's body; `undefined` if the row holds its envelope itself. */
export const bodyKeyOf = (row: Row): ItemKey | undefined =>
  row.content.kind === 'body' ? bodyKey(row.rowId, row.content.body.sk) : undefined

/**
 * Reads the bodies of those rows that have one. The answer gives a row's body text, `undefined` if it is missing.
 * @throws PostdateError `persistence.unavailable`, `.access-denied`, `.misconfigured`
 */
export const readBodies = async (
  table: Table,
  operation: Operation,
  rows: readonly Row[],
): Promise<(row: Row) => string | undefined> => {
  const keys = rows.flatMap((row) => bodyKeyOf(row) ?? [])
  if (keys.length === 0) return () => undefined
  const items = await readItems(table, operation, keys)
  return (row) => {
    const key = bodyKeyOf(row)
    return key === undefined ? undefined : items.get(keyText(key))?.envelope?.S
  }
}

/** Removes the body of a row that was withdrawn. One that can't be removed now leaves by its TTL. */
export const deleteBody = async (table: Table, row: Row): Promise<void> => {
  const key = bodyKeyOf(row)
  if (key === undefined) return
  try {
    await table.client.send(new DeleteItemCommand({ TableName: table.tableName, Key: toKeyItem(key) }))
  } catch (error) {
    table.logger.warn('the body of a withdrawn row could not be removed; it leaves by its TTL', {
      rowId: row.rowId,
      error: String(error),
    })
  }
}

/**
 * Lets the body of a row stay for a due instant (epoch milliseconds) later than it was stored for. To be done before the row
 * moves: a body that leaves before its row is a message lost.
 * @throws what the SDK throws
 */
export const prolongBody = async (table: Table, row: Row, dueAt: number): Promise<void> => {
  const key = bodyKeyOf(row)
  // The sort key begins with the instant that the body was stored for; a write costs by the size of the body.
  if (key !== undefined && Number(key.sk.slice(0, INSTANT_DIGITS)) < dueAt) await setExpiry(table, key, dueAt)
}

/** Gives the body of a row that was dead an end again, or a later one. @throws what the SDK throws */
export const expireBody = async (table: Table, row: Row, dueAt: number): Promise<void> => {
  const key = bodyKeyOf(row)
  if (key !== undefined) await setExpiry(table, key, dueAt)
}

const setExpiry = (table: Table, key: ItemKey, dueAt: number): Promise<void> =>
  // Refused: it stays long enough already, or the row was withdrawn meanwhile.
  attemptOnce(() =>
    table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: toKeyItem(key),
        UpdateExpression: 'SET expiresAt = :expiresAt',
        ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(expiresAt) OR expiresAt < :expiresAt)',
        ExpressionAttributeValues: { ':expiresAt': { N: String(expiryOf(dueAt)) } },
      }),
    ),
  )

/** Takes the TTL off the body of a row that dies, so that it stays as long as the dead row does. */
export const keepBody = async (table: Table, row: Row): Promise<void> => {
  const key = bodyKeyOf(row)
  if (key === undefined) return
  try {
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: toKeyItem(key),
        UpdateExpression: 'REMOVE expiresAt',
        ConditionExpression: 'attribute_exists(pk)',
      }),
    )
  } catch (error) {
    // No body: the row died for that very reason, or was withdrawn meanwhile.
    if (!isRefused(error)) throw error
  }
}
