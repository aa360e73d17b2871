import { QueryCommand } from '@aws-sdk/client-dynamodb'
import { claimableFrom } from '../core/lease.js'
import { isOfNewerFormat, type Row, readRow } from './attributes.js'
import { isArriving, isLeaving } from './finish-move.js'
import { isDying } from './give-up-row.js'
import { duePartition, firstSortKeyAfter } from './keys.js'
import type { Item, Table } from './table.js'

/** What a look judges by: leases by `now`, what is due by `dueBefore`. Epoch milliseconds. */
export interface Horizon {
  readonly now: number
  readonly dueBefore: number
}

/** A reading of one shard, page by page from its head. */
export interface ShardReading {
  readonly shard: number
  /** Rows to claim, oldest first. */
  readonly claimable: Row[]
  /** Rows that were withdrawn or moved away and have done their service, rows on their way to the dead, and moves that broke off. */
  readonly spent: Row[]
  readonly dying: Row[]
  readonly moving: Row[]
  /** The earliest instant at which a row that was read may become claimable. */
  nextDueAt: number | undefined
  /** Rows that others hold, or that were given back until later. */
  held: number
  /** Where the next page begins; `undefined` before the first. */
  after: Item | undefined
  /** How many rows of the last page were not to be claimed. */
  passed: number
  /** `more`: due rows may follow. `tail`: none do, but what comes next is not known yet. `done`: it is. */
  state: 'more' | 'tail' | 'done'
}

/**
 * The first page has no upper bound: for the one read unit that a look costs at least, it also tells what comes next.
 * Four rows of a write unit each fill a read unit.
 */
const HEAD_ROWS = 4

/** A page of 1 MB, the service's own bound, holds about 1,000 thin rows. */
const MOST_PAGE_ROWS = 500

/** How many held rows of one shard a pass reads past before it leaves the shard. */
const MOST_HELD_ROWS = 2_000

/**
 * How many rows of one shard that have done their service a pass takes along to be removed; the others are for the passes
 * after it. What is due waits for that: 30,000 rows took 5 s, and two kilobytes of memory each.
 */
const MOST_SPENT_ROWS = 500

/**
 * How long after it was due a row that was withdrawn or moved away stays, in milliseconds. A store that is still in flight must find it: three
 * attempts of 5 s and what is tried again after them.
 */
export const TOMBSTONE_MS = 30_000

/** A reading that has not begun. */
export const openReading = (shard: number): ShardReading => ({
  shard,
  claimable: [],
  spent: [],
  dying: [],
  moving: [],
  nextDueAt: undefined,
  held: 0,
  after: undefined,
  passed: 0,
  state: 'more',
})

const waitsUntil = (reading: ShardReading, at: number) => {
  reading.nextDueAt = reading.nextDueAt === undefined ? at : Math.min(reading.nextDueAt, at)
}

/** How long a row that this version can't read is left alone before it is looked at again. */
const NEWER_WAIT_MS = 60_000

const sortDueRow = (reading: ShardReading, row: Row, now: number) => {
  if (isOfNewerFormat(row)) {
    // A rolling deploy or a rollback is no fault of the message: a dispatcher that knows the format takes it, and until
    // then it counts as backlog, whose alarm rings.
    reading.held++
    waitsUntil(reading, now + NEWER_WAIT_MS)
    return
  }
  // A register that can't be read has no holder: it is swapped on its raw value.
  const from = row.lease === undefined ? 0 : claimableFrom(row.lease)
  if (from === undefined) {
    if (isDying(row)) reading.dying.push(row)
    else if (isArriving(row) || isLeaving(row)) reading.moving.push(row)
    else if (row.dueAt + TOMBSTONE_MS <= now && reading.spent.length < MOST_SPENT_ROWS) reading.spent.push(row)
  } else if (from > now) {
    reading.held++
    waitsUntil(reading, from)
  } else reading.claimable.push(row)
}

/** Takes a page in; answers whether a row that falls due later was among it, and so no due row can follow. */
const sortPage = (reading: ShardReading, items: readonly Item[], { now, dueBefore }: Horizon): boolean => {
  const before = reading.claimable.length
  let lastLaterDueAt: number | undefined
  for (const item of items) {
    const row = readRow(item, reading.shard)
    // Whoever put such a key there: it is no row of ours, and stands in nobody's way.
    if (row === undefined) continue
    if (row.dueAt <= dueBefore) {
      sortDueRow(reading, row, now)
      continue
    }
    lastLaterDueAt = row.dueAt
    const from = row.lease === undefined ? 0 : claimableFrom(row.lease)
    // A move that broke off is finished when it is due at the latest.
    if (isArriving(row)) waitsUntil(reading, row.dueAt)
    if (from === undefined) continue
    waitsUntil(reading, Math.max(row.dueAt, from))
    // No row behind it is due earlier. One that is held past its due instant may be overtaken by the next.
    if (from <= row.dueAt) return true
  }
  reading.passed = items.length - (reading.claimable.length - before)
  // Only withdrawn or held rows so far; what follows is due no earlier than the last of them.
  if (lastLaterDueAt !== undefined && reading.after !== undefined) waitsUntil(reading, lastLaterDueAt)
  return lastLaterDueAt !== undefined
}

const queryPage = async (table: Table, reading: ShardReading, rows: number, bound: string | undefined) => {
  const answer = await table.client.send(
    new QueryCommand({
      TableName: table.tableName,
      ConsistentRead: true,
      Limit: rows,
      KeyConditionExpression: bound === undefined ? 'pk = :pk' : 'pk = :pk AND sk < :bound',
      ExpressionAttributeValues: {
        ':pk': { S: duePartition(reading.shard) },
        ...(bound !== undefined && { ':bound': { S: bound } }),
      },
      ...(reading.after !== undefined && { ExclusiveStartKey: reading.after }),
    }),
  )
  // The last key of a page that reached the end stays, so that the tail can be read from there.
  const last = answer.Items?.at(-1)
  const ended = answer.LastEvaluatedKey === undefined
  reading.after = answer.LastEvaluatedKey ?? (last === undefined ? reading.after : lastKey(last))
  return { items: answer.Items ?? [], ended }
}

const lastKey = ({ pk, sk }: Item): Item | undefined => (pk === undefined || sk === undefined ? undefined : { pk, sk })

/** Reads the head of a shard, at least four rows of it. @throws what the SDK throws */
export const readHead = async (
  table: Table,
  reading: ShardReading,
  horizon: Horizon,
  wanted: number,
): Promise<void> => {
  const rows = Math.min(MOST_PAGE_ROWS, Math.max(HEAD_ROWS, wanted))
  const { items, ended } = await queryPage(table, reading, rows, undefined)
  if (ended) reading.after = undefined
  const sawLater = sortPage(reading, items, horizon)
  reading.state = ended || sawLater ? 'done' : 'more'
}

/**
 * Reads on among the due rows: as many as are wanted, and four times as many after a page of rows that are not to be
 * claimed, so that thousands of them are passed in a few requests.
 * @throws what the SDK throws
 */
export const readDuePage = async (
  table: Table,
  reading: ShardReading,
  horizon: Horizon,
  wanted: number,
): Promise<void> => {
  const rows = Math.min(MOST_PAGE_ROWS, Math.max(wanted, reading.passed * 4))
  const { items, ended } = await queryPage(table, reading, rows, firstSortKeyAfter(horizon.dueBefore))
  sortPage(reading, items, horizon)
  if (ended) reading.state = 'tail'
  else if (reading.held >= MOST_HELD_ROWS) reading.state = 'done'
}

/** Reads what comes after the due rows. @throws what the SDK throws */
export const readTail = async (table: Table, reading: ShardReading, horizon: Horizon): Promise<void> => {
  const { items, ended } = await queryPage(table, reading, HEAD_ROWS, undefined)
  if (ended) reading.after = undefined
  sortPage(reading, items, horizon)
  reading.state = 'done'
}
