import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import type { Clock } from '../core/clock.js'
import type { PostdateError } from '../core/errors.js'
import type { Coordination, ShardCounts, WorkerLease } from '../core/persistence.js'
import { isStill, readReadShards, readWorkerLease, toWorkerItem } from './control-attributes.js'
import { isRefused, mayHaveApplied, toStoreError } from './failures.js'
import { controlKey, toKeyItem } from './keys.js'
import { readPause, setPause } from './pause.js'
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

/**
 * A conditional write, which a look then judges: its condition may have been false since a repeated attempt of the SDK met its
 * own write, and a lost answer may be to a write that was made. Answers the error of a lost answer.
 */
const attempt = async (table: Table, write: () => Promise<unknown>): Promise<PostdateError | undefined> => {
  try {
    await write()
    return undefined
  } catch (error) {
    if (isRefused(error)) return undefined
    const typed = toStoreError(table, 'change its settings', error)
    if (mayHaveApplied(error)) return typed
    throw typed
  }
}

const readWorker = async (table: Table): Promise<WorkerLease | undefined> => {
  const item = await readItem(table, 'read its settings', controlKey('worker'))
  return item === undefined ? undefined : readWorkerLease(item)
}

const takeWorker = async (table: Table, next: WorkerLease, seen: WorkerLease | undefined): Promise<boolean> => {
  let taken = false
  const lost = await attempt(table, async () => {
    await table.client.send(
      new PutItemCommand({
        TableName: table.tableName,
        Item: { ...toKeyItem(controlKey('worker')), ...toWorkerItem(next) },
        ...isStill(seen),
      }),
    )
    taken = true
  })
  if (taken || isSame(await readWorker(table), next)) return true
  if (lost !== undefined) throw lost
  return false
}

const growTo = async (table: Table, atLeast: number): Promise<PostdateError | undefined> =>
  attempt(table, () =>
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
    const read = Math.max(stored ?? 0, DEFAULT_SHARDS, cached?.read ?? 0)
    cached = { read, at: clock.now() }
    return toCounts(read)
  }

  const readShards = async (): Promise<ShardCounts> => {
    const known = cached
    if (known === undefined) return refresh()
    const ageMs = clock.now() - known.at
    if (ageMs >= 0 && ageMs < COUNTS_MS) return toCounts(known.read)
    try {
      return await refresh()
    } catch (error) {
      table.logger.warn('the shard counts could not be read again; the known ones serve on', { error: String(error) })
      return toCounts(known.read)
    }
  }

  return {
    readShards,
    // Up to the default every dispatcher reads them without being told, so a sender has nothing to look up.
    writeShards: async () => (writeShards <= DEFAULT_SHARDS ? writeShards : (await readShards()).write),
    growShards: async (atLeast) => {
      const counts = await refresh()
      // Below the default nothing needs to be written: that many are read without being told.
      if (counts.read >= atLeast) return counts
      const lost = await growTo(table, atLeast)
      const grown = await refresh()
      if (grown.read < atLeast && lost !== undefined) throw lost
      return grown
    },
    readWorker: () => readWorker(table),
    takeWorker: (next, seen) => takeWorker(table, next, seen),
    readPause: () => readPause(table),
    setPause: (next) => setPause(table, next),
  }
}
