import { QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb'
import { claimableFrom } from '../core/lease.js'
import type { Backlog } from '../core/persistence.js'
import { readRow } from './attributes.js'
import { toStoreError } from './failures.js'
import { deadPartition, duePartition, firstSortKeyAfter } from './keys.js'
import { runBounded } from './run-bounded.js'
import type { Item, Table } from './table.js'

const OPERATION = 'measure the backlog'
const MOST_QUERIES = 8

/** How many rows are counted at most: enough to ring an alarm, and about 250 read units when they are thin. */
const MOST_ROWS = 1_000

/** A page of each shard together is as many rows as are counted at most; four of them cost what one does. */
const pageRows = (shards: readonly number[]): number => Math.max(4, Math.ceil(MOST_ROWS / Math.max(1, shards.length)))

/** Reads a partition page by page; `onItem` answers whether to go on. */
const readPartition = async (
  table: Table,
  input: Pick<
    QueryCommandInput,
    'KeyConditionExpression' | 'ExpressionAttributeValues' | 'ProjectionExpression' | 'Limit'
  >,
  onItem: (item: Item) => boolean,
): Promise<void> => {
  let after: Item | undefined
  do {
    const answer = await table.client.send(
      new QueryCommand({
        TableName: table.tableName,
        ConsistentRead: true,
        ...input,
        ...(after !== undefined && { ExclusiveStartKey: after }),
      }),
    )
    for (const item of answer.Items ?? []) if (!onItem(item)) return
    after = answer.LastEvaluatedKey
  } while (after !== undefined)
}

const measureDue = async (table: Table, shards: readonly number[], now: number) => {
  let due = 0
  let capped = false
  let oldestDueAt: number | undefined
  await runBounded(shards, MOST_QUERIES, (shard) =>
    readPartition(
      table,
      {
        KeyConditionExpression: 'pk = :pk AND sk < :bound',
        ExpressionAttributeValues: { ':pk': { S: duePartition(shard) }, ':bound': { S: firstSortKeyAfter(now) } },
        ProjectionExpression: 'pk, sk, lease',
        Limit: pageRows(shards),
      },
      (item) => {
        const row = readRow(item, shard)
        // Those that were withdrawn or have moved wait for nothing, and dying ones are counted among the dead soon.
        if (row === undefined || (row.lease !== undefined && claimableFrom(row.lease) === undefined)) return true
        oldestDueAt = Math.min(oldestDueAt ?? row.dueAt, row.dueAt)
        due++
        capped = due >= MOST_ROWS
        return !capped
      },
    ),
  )
  return { due, capped, oldestDueAt }
}

const countDead = async (table: Table, shards: readonly number[]): Promise<number> => {
  let dead = 0
  await runBounded(shards, MOST_QUERIES, (shard) =>
    readPartition(
      table,
      {
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: deadPartition(shard) } },
        ProjectionExpression: 'pk, sk, withdrawnAt',
        Limit: pageRows(shards),
      },
      (item) => {
        if (item.withdrawnAt === undefined) dead++
        return dead < MOST_ROWS
      },
    ),
  )
  return dead
}

/**
 * Counts what is due and not dispatched, and what is dead.
 * @throws PostdateError `persistence.unavailable`, `.access-denied`, `.misconfigured`
 */
export const measureBacklog = async (table: Table, shards: readonly number[], now: number): Promise<Backlog> => {
  try {
    const [due, dead] = await Promise.all([measureDue(table, shards, now), countDead(table, shards)])
    return { ...due, dead }
  } catch (error) {
    throw toStoreError(table, OPERATION, error)
  }
}
