import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import type { Clock } from '../core/clock.js'
import type { Coordination, ShardCounts, WorkerLease } from '../core/persistence.js'
import { readReadShards, readWorkerLease, toWorkerItem } from './control-attributes.js'
import { isRefused, toStoreError } from './failures.js'
import { controlKey, toKeyItem } from './keys.js'
import { readItem } from './read-items.js'
import type { Table } from './table.js'

/** The shards of a table on which nothing was ever set: what senders and dispatchers take for granted. */
export const DEFAULT_SHARDS = 8

/** How long a process trusts the counts that it read: the read count only grows, so an old one is right or too small. */
const COUNTS_MS = 60_000

const isSame = (one: WorkerLease | undefined, other: WorkerLease): boolean =>
  one !== undefined &&
  one.owner === other.owner &&
  one.epoch === other.epoch &&
  one.leaseUntil === other.leaseUntil &&
  one.stopsAt === other.stopsAt

/** A conditional write; `false` if its condition was false. */
const attempt = async (table: Table, write: () => Promise<unknown>): Promise<boolean> => {
  try {
    await write()
    return true
  } catch (error) {
    if (isRefused(error)) return false
    throw toStoreError(table, 'change its settings', error)
  }
}

const readWorker = async (table: Table): Promise<WorkerLease | undefined> => {
  const item = await readItem(table, 'read its settings', controlKey('worker'))
  return item === undefined ? undefined : readWorkerLease(item)
}

const takeWorker = async (table: Table, next: WorkerLease, seen: WorkerLease | undefined): Promise<boolean> => {
  const taken = await attempt(table, () =>
    table.client.send(
      new PutItemCommand({
        TableName: table.tableName,
        Item: { ...toKeyItem(controlKey('worker')), ...toWorkerItem(next) },
        ...(seen === undefined
          ? { ConditionExpression: 'attribute_not_exists(pk)' }
          : {
              // Names of attributes go by aliases: OWNER is a reserved word.
              ConditionExpression: '#o = :o AND #e = :e AND #l = :l AND #s = :s',
              ExpressionAttributeNames: { '#o': 'owner', '#e': 'epoch', '#l': 'leaseUntil', '#s': 'stopsAt' },
              ExpressionAttributeValues: {
                ':o': { S: seen.owner },
                ':e': { N: String(seen.epoch) },
                ':l': { N: String(seen.leaseUntil) },
                ':s': { N: String(seen.stopsAt) },
              },
            }),
      }),
    ),
  )
  // A repeated attempt of the SDK may have met its own write.
  return taken || isSame(await readWorker(table), next)
}

const growTo = async (table: Table, atLeast: number): Promise<void> => {
  await attempt(table, () =>
    table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: toKeyItem(controlKey('shards')),
        UpdateExpression: 'SET readShards = :n',
        ConditionExpression: 'attribute_not_exists(readShards) OR readShards < :n',
        ExpressionAttributeValues: { ':n': { N: String(atLeast) } },
      }),
    ),
  )
}

/**
 * What several processes agree on, in the control items. Senders never write them: one whose own write count is above the
 * stored read count uses the smaller, so no row is ever where no dispatcher reads.
 */
export const createCoordination = (table: Table, writeShards: number, clock: Clock): Coordination => {
  let cached: { readonly read: number; readonly at: number } | undefined

  const toCounts = (read: number): ShardCounts => ({ write: Math.min(writeShards, read), read })

  const refresh = async (): Promise<ShardCounts> => {
    const item = await readItem(table, 'read its settings', controlKey('shards'))
    const stored = item === undefined ? undefined : readReadShards(item)
    const read = Math.max(stored ?? DEFAULT_SHARDS, cached?.read ?? 0)
    cached = { read, at: clock.now() }
    return toCounts(read)
  }

  return {
    readShards: async () => {
      const age = cached === undefined ? undefined : clock.now() - cached.at
      return cached !== undefined && age !== undefined && age >= 0 && age < COUNTS_MS
        ? toCounts(cached.read)
        : refresh()
    },
    growShards: async (atLeast) => {
      const counts = await refresh()
      // Below the default nothing needs to be written: that many are read without being told.
      if (counts.read >= atLeast) return counts
      await growTo(table, atLeast)
      return refresh()
    },
    readWorker: () => readWorker(table),
    takeWorker: (next, seen) => takeWorker(table, next, seen),
  }
}
