import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import type { Row } from './attributes.js'
import { isRefused, mayHaveApplied, type Operation, toStoreError, wasRepeated } from './failures.js'
import { toKeyItem } from './keys.js'
import type { Table } from './table.js'
import type { FinalResult } from './write-items.js'

/** Claims a row whose register can't be read, by comparing with its raw value, whatever type that has. Never throws. */
export const swapDamagedRow = async (
  table: Table,
  operation: Operation,
  { key, item }: Row,
  next: string,
): Promise<FinalResult> => {
  try {
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: toKeyItem(key),
        UpdateExpression: 'SET lease = :next',
        ConditionExpression:
          item.lease === undefined ? 'attribute_exists(pk) AND attribute_not_exists(lease)' : 'lease = :seen',
        ExpressionAttributeValues: {
          ':next': { S: next },
          ...(item.lease !== undefined && { ':seen': item.lease }),
        },
      }),
    )
    return { result: 'done' }
  } catch (error) {
    if (isRefused(error)) return { result: 'refused', mayBeMine: wasRepeated(error) }
    const applied = mayHaveApplied(error) ? 'unknown' : 'no'
    return { result: 'failed', applied, error: toStoreError(table, operation, error) }
  }
}
