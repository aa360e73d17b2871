import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { isRefused, mayHaveApplied, type Operation, toStoreError, wasRepeated } from './failures.js'
import { toKeyItem } from './keys.js'
import { runBounded } from './run-bounded.js'
import type { Table } from './table.js'
import type { Write, WriteResult } from './write-items.js'

const sendWrite = (table: Table, write: Write): Promise<unknown> => {
  const { client, tableName: TableName } = table
  if (write.write === 'insert')
    return client.send(
      new PutItemCommand({ TableName, Item: write.item, ConditionExpression: 'attribute_not_exists(pk)' }),
    )
  const Key = toKeyItem(write.key)
  if (write.write === 'swap')
    return client.send(
      new UpdateItemCommand({
        TableName,
        Key,
        UpdateExpression: 'SET lease = :next',
        ConditionExpression: 'lease = :seen',
        ExpressionAttributeValues: { ':next': { S: write.next }, ':seen': { S: write.seen } },
      }),
    )
  return client.send(
    new DeleteItemCommand({
      TableName,
      Key,
      ConditionExpression: 'lease = :seen',
      ExpressionAttributeValues: { ':seen': { S: write.seen } },
    }),
  )
}

/** Sends each write in a request of its own. One result per write, in order; never throws. */
export const sendSingle = (
  table: Table,
  operation: Operation,
  writes: readonly Write[],
): Promise<readonly WriteResult[]> =>
  runBounded(writes, 1, async (write): Promise<WriteResult> => {
    try {
      await sendWrite(table, write)
      return { result: 'done' }
    } catch (error) {
      if (isRefused(error)) return { result: 'refused', mayBeMine: wasRepeated(error) }
      return {
        result: 'failed',
        applied: mayHaveApplied(error) ? 'unknown' : 'no',
        error: toStoreError(table, operation, error),
      }
    }
  })
