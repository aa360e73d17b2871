import { QueryCommand } from '@aws-sdk/client-dynamodb'
import { isMovedAway } from '../core/lease.js'
import type { DeadRow } from '../core/persistence.js'
import { type Row, readDeath, readEnvelope, readRow } from './attributes.js'
import { readBodies } from './bodies.js'
import { toStoreError } from './failures.js'
import { addressOf, deadPartition } from './keys.js'
import { runBounded } from './run-bounded.js'
import type { Item, Table } from './table.js'

const OPERATION = 'list dead messages'
const MOST_QUERIES = 8

const readDeadShard = async (table: Table, shard: number, limit: number): Promise<Row[]> => {
  const rows: Row[] = []
  let after: Item | undefined
  do {
    const answer = await table.client.send(
      new QueryCommand({
        TableName: table.tableName,
        ConsistentRead: true,
        Limit: limit,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: deadPartition(shard) } },
        ...(after !== undefined && { ExclusiveStartKey: after }),
      }),
    )
    for (const item of answer.Items ?? []) {
      const row = item.withdrawnAt === undefined ? readRow(item, shard) : undefined
      if (row !== undefined && !isMovedAway(row.lease) && rows.length < limit) rows.push(row)
    }
    after = answer.LastEvaluatedKey
  } while (after !== undefined && rows.length < limit)
  return rows
}

/**
 * The dead rows of these shards, those that were due first first.
 * @throws PostdateError `persistence.unavailable`, `.access-denied`, `.misconfigured`
 */
export const listDead = async (table: Table, shards: readonly number[], limit: number): Promise<readonly DeadRow[]> => {
  try {
    const found = await runBounded(shards, MOST_QUERIES, (shard) => readDeadShard(table, shard, limit))
    const rows = found
      .flat()
      .sort((one, other) => one.dueAt - other.dueAt)
      .slice(0, limit)
    const bodyOf = await readBodies(table, OPERATION, rows)
    return rows.map((row) => ({
      ...addressOf(row),
      envelope: readEnvelope(row, bodyOf(row)),
      ...readDeath(row),
      failures: row.failures,
    }))
  } catch (error) {
    throw toStoreError(table, OPERATION, error)
  }
}
