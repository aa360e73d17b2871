import { BatchGetItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { PostdateError } from '../core/errors.js'
import { dynamoDbLimits } from '../wiring/limits.js'
import { type Operation, toStoreError } from './failures.js'
import { type ItemKey, keyOfItem, keyText, toKeyItem } from './keys.js'
import { runBounded } from './run-bounded.js'
import type { Item, Table } from './table.js'

const MOST_REQUESTS = 8

/** How often in a row a request may come back without a single item before the reading is given up. */
const MOST_EMPTY_ANSWERS = 5
const FIRST_WAIT_MS = 50

/**
 * Reads an item consistently; `undefined` if there is none.
 * @throws PostdateError `persistence.unavailable`, `.access-denied`, `.misconfigured`
 */
export const readItem = async (table: Table, operation: Operation, key: ItemKey): Promise<Item | undefined> => {
  try {
    const answer = await table.client.send(
      new GetItemCommand({ TableName: table.tableName, Key: toKeyItem(key), ConsistentRead: true }),
    )
    return answer.Item
  } catch (error) {
    throw toStoreError(table, operation, error)
  }
}

const readBatch = async (table: Table, operation: Operation, keys: readonly ItemKey[], found: Map<string, Item>) => {
  let left: Item[] = keys.map(toKeyItem)
  for (let empty = 0; ; ) {
    const answer = await table.client.send(
      new BatchGetItemCommand({ RequestItems: { [table.tableName]: { Keys: left, ConsistentRead: true } } }),
    )
    const items = Object.values(answer.Responses ?? {}).flat()
    for (const item of items) found.set(keyText(keyOfItem(item)), item)
    left = Object.values(answer.UnprocessedKeys ?? {}).flatMap(({ Keys }) => Keys ?? [])
    if (left.length === 0) return
    empty = items.length === 0 ? empty + 1 : 0
    if (empty === MOST_EMPTY_ANSWERS)
      throw new PostdateError('persistence.unavailable', {
        persistence: table.name,
        operation,
        reason: `${left.length} reads stayed unprocessed`,
      })
    // A big answer is cut at 16 MB and goes on at once; one without an item was throttled.
    if (empty > 0) await table.wait(FIRST_WAIT_MS * 2 ** (empty - 1) * (0.5 + Math.random() / 2))
  }
}

/**
 * Reads items consistently, 100 to a request; what the table leaves unprocessed is asked for again. The result is by
 * `keyText`; what is not there has no entry.
 * @throws PostdateError `persistence.unavailable`, `.access-denied`, `.misconfigured`
 */
export const readItems = async (
  table: Table,
  operation: Operation,
  keys: readonly ItemKey[],
): Promise<ReadonlyMap<string, Item>> => {
  const found = new Map<string, Item>()
  const distinct = [...new Map(keys.map((key) => [keyText(key), key])).values()]
  const batches: ItemKey[][] = []
  for (let at = 0; at < distinct.length; at += dynamoDbLimits.maxBatchKeys)
    batches.push(distinct.slice(at, at + dynamoDbLimits.maxBatchKeys))
  try {
    await runBounded(batches, MOST_REQUESTS, (batch) => readBatch(table, operation, batch, found))
  } catch (error) {
    throw toStoreError(table, operation, error)
  }
  return found
}
