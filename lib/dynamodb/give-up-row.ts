import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { formatLease, givenUp, parseLease } from '../core/lease.js'
import type { Release, SettleOutcome } from '../core/persistence.js'
import { type Row, readRow } from './attributes.js'
import { deleteBody, keepBody } from './bodies.js'
import { isRefused, mayHaveApplied, toStoreError, wasRepeated } from './failures.js'
import { deadKey, dueKey, toKeyItem } from './keys.js'
import { readItem } from './read-items.js'
import type { Item, Table } from './table.js'

const OPERATION = 'release messages'

/** The longest reason that a row keeps, in characters. */
const MOST_REASON_CHARACTERS = 1_000

/** Whether a row is on its way to the dead. */
export const isDying = (row: Row): boolean => row.lease?.state === 'd' || row.lease?.state === 'p'

/**
 * Finishes what giving up began; every step may be repeated, by anyone, at any time. The dead row is written before the due
 * row goes, so the message is always to be found; and never over a withdrawal, so a recall stands.
 * @throws what the SDK throws; the next pass that meets the row goes on.
 */
export const finishDeath = async (table: Table, row: Row): Promise<void> => {
  const { client, tableName: TableName } = table
  await keepBody(table, row)
  try {
    await client.send(
      new PutItemCommand({
        TableName,
        Item: { ...row.item, ...toKeyItem(deadKey(row)) },
        // Only the withdrawal of this very death stands in its way: a message that was sent again under its id may die again.
        ConditionExpression: 'attribute_not_exists(withdrawnAt) OR withdrew <> :death',
        ExpressionAttributeValues: { ':death': row.item.lease ?? { S: '' } },
      }),
    )
  } catch (error) {
    if (!isRefused(error)) throw error
    await deleteBody(table, row)
  }
  await removeDying(table, row)
}

/** Removes a dying due row, if it still is what was seen. */
export const removeDying = async (table: Table, row: Row): Promise<void> => {
  try {
    await table.client.send(
      new DeleteItemCommand({
        TableName: table.tableName,
        Key: toKeyItem(row.key),
        ConditionExpression: 'lease = :seen',
        ExpressionAttributeValues: { ':seen': row.item.lease ?? { S: '' } },
      }),
    )
  } catch (error) {
    // Another finished first.
    if (!isRefused(error)) throw error
  }
}

const markDying = async (table: Table, release: Release, reason: string, diedAt: number, next: string) => {
  const { claim, failures = claim.failures } = release
  const answer = await table.client.send(
    new UpdateItemCommand({
      TableName: table.tableName,
      Key: toKeyItem(dueKey(claim)),
      UpdateExpression: 'SET lease = :next, reason = :reason, diedAt = :diedAt, failures = :failures',
      ConditionExpression: 'lease = :seen',
      ExpressionAttributeValues: {
        ':next': { S: next },
        ':seen': { S: claim.lease },
        ':reason': { S: reason.slice(0, MOST_REASON_CHARACTERS) || 'no reason given' },
        ':diedAt': { N: String(diedAt) },
        ':failures': { N: String(failures) },
      },
      ReturnValues: 'ALL_NEW',
    }),
  )
  return answer.Attributes
}

/** The row as I marked it, after a refusal or a lost answer; else what became of the claim. */
const lookUpMarked = async (
  table: Table,
  release: Release,
  next: string,
  cause: unknown,
): Promise<Item | SettleOutcome> => {
  const item = await readItem(table, OPERATION, dueKey(release.claim))
  if (item?.lease?.S === next) return item
  const mayBeMine = isRefused(cause) ? wasRepeated(cause) : mayHaveApplied(cause)
  if (item === undefined) return { outcome: mayBeMine ? 'settled' : 'gone' }
  if (item.lease?.S === release.claim.lease) return { outcome: 'failed', error: toStoreError(table, OPERATION, cause) }
  return { outcome: 'lease-lost' }
}

const isOutcome = (found: Item | SettleOutcome): found is SettleOutcome => typeof found.outcome === 'string'

/**
 * Gives a claimed row up, without a transaction: the due row is marked as dying, with the reason; the dead row is written; the
 * due row goes. Only the first step is a race, decided by the register. Once it is made, a crash leaves a dying row, which the
 * next pass or a recall finishes.
 */
export const giveUpRow = async (
  table: Table,
  release: Release,
  { reason, diedAt }: NonNullable<Release['dead']>,
): Promise<SettleOutcome> => {
  const { claim, published } = release
  const held = parseLease(claim.lease)
  if (held === undefined) return { outcome: 'lease-lost' }
  const next = formatLease(givenUp(held, published, diedAt, table.newToken()))
  let marked: Item | undefined
  try {
    marked = await markDying(table, release, reason, diedAt, next)
  } catch (error) {
    try {
      const found = await lookUpMarked(table, release, next, error)
      if (isOutcome(found)) return found
      marked = found
    } catch (second) {
      return { outcome: 'failed', error: toStoreError(table, OPERATION, second) }
    }
  }
  const row = marked === undefined ? undefined : readRow(marked, claim.shard)
  try {
    if (row !== undefined) await finishDeath(table, row)
  } catch (error) {
    table.logger.warn('a row was given up and is not yet among the dead; the next pass goes on', {
      rowId: claim.rowId,
      error: String(error),
    })
  }
  return { outcome: 'settled' }
}
