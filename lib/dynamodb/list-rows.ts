import { QueryCommand } from '@aws-sdk/client-dynamodb'
import type { DueWindow, ListedRow, ListPage, ListRequest, ReadCost } from '../core/inspection.js'
import { formatInstant } from '../core/lease.js'
import { type Row, readRow } from './attributes.js'
import { describeRow } from './describe-row.js'
import { toStoreError } from './failures.js'
import { isArriving } from './finish-move.js'
import { isDying } from './give-up-row.js'
import { duePartition } from './keys.js'
import { runBounded } from './run-bounded.js'
import type { Item, Table } from './table.js'

const OPERATION = 'list messages'
const MOST_QUERIES = 8

/** The most rows of a shard in one request, and the most that one page of a list reads before it answers what it has. */
const MOST_ROWS = 500
const MOST_READ = 20_000
/** The fewest rows of a shard in one request: what a page has read and not answered is read again by the next. */
const LEAST_ROWS = 32

/** A row, or what else has a key of ours, in the order of all shards. */
interface Placed {
  readonly sk: string
  readonly shard: number
  readonly row: Row | undefined
}

interface Reading {
  readonly shard: number
  readonly unread: Placed[]
  after: Item | undefined
  isEnded: boolean
}

interface Cursor {
  readonly sk: string
  readonly shard: number
}

const isAfter = (one: Cursor, other: Cursor): boolean =>
  one.sk === other.sk ? one.shard > other.shard : one.sk > other.sk

const formatCursor = ({ sk, shard }: Cursor): string => `${sk} ${shard}`

const parseCursor = (cursor: string | undefined): Cursor => {
  const end = cursor?.lastIndexOf(' ') ?? -1
  return cursor === undefined || end < 0
    ? { sk: '', shard: -1 }
    : { sk: cursor.slice(0, end), shard: Number(cursor.slice(end + 1)) }
}

const queryOf = (shard: number, { dueFrom, dueBefore }: DueWindow, from: string) => ({
  KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
  ExpressionAttributeValues: {
    ':pk': { S: duePartition(shard) },
    ':from': { S: from > formatInstant(dueFrom) ? from : formatInstant(dueFrom) },
    // Every sort key of that instant is longer, and so comes after it.
    ':to': { S: formatInstant(dueBefore) },
  },
})

const readPage = async (table: Table, reading: Reading, window: DueWindow, cursor: Cursor, rows: number) => {
  const answer = await table.client.send(
    new QueryCommand({
      TableName: table.tableName,
      ConsistentRead: true,
      Limit: rows,
      ...queryOf(reading.shard, window, cursor.sk),
      ...(reading.after !== undefined && { ExclusiveStartKey: reading.after }),
    }),
  )
  for (const item of answer.Items ?? []) {
    const placed = { sk: item.sk?.S ?? '', shard: reading.shard, row: readRow(item, reading.shard) }
    if (isAfter(placed, cursor)) reading.unread.push(placed)
  }
  reading.after = answer.LastEvaluatedKey
  reading.isEnded = answer.LastEvaluatedKey === undefined
  return answer.Items?.length ?? 0
}

const firstOf = (readings: readonly Reading[]): Reading | undefined => {
  let first: Reading | undefined
  for (const reading of readings) {
    const [head] = reading.unread
    const [best] = first?.unread ?? []
    if (head !== undefined && (best === undefined || isAfter(best, head))) first = reading
  }
  return first
}

const isListed = (row: Row): boolean =>
  !isArriving(row) && !isDying(row) && row.lease?.state !== 't' && row.lease?.state !== 'g'

const notRecalled = ({ state }: ListedRow): boolean => state !== 'recalled'

/**
 * The rows of a window, of all these shards in the order of their due instants, page by page. Every row is read and paid for,
 * whatever is accepted.
 * @throws PostdateError `persistence.unavailable`, `.access-denied`, `.misconfigured`
 */
export const listRows = async (table: Table, shards: readonly number[], request: ListRequest): Promise<ListPage> => {
  const { now, limit, accepts = notRecalled } = request
  if (request.dueFrom >= request.dueBefore || limit < 1) return { rows: [] }
  const begin = parseCursor(request.cursor)
  const readings = shards.map((shard): Reading => ({ shard, unread: [], after: undefined, isEnded: false }))
  const rows: ListedRow[] = []
  const pageRows = Math.min(MOST_ROWS, Math.max(LEAST_ROWS, Math.ceil(limit / shards.length / 4)))
  let last = begin
  let read = 0
  try {
    for (;;) {
      const dry = readings.filter(({ unread, isEnded }) => unread.length === 0 && !isEnded)
      if (dry.length > 0) {
        if (rows.length >= limit || read >= MOST_READ) return { rows, cursor: formatCursor(last) }
        const counts = await runBounded(dry, MOST_QUERIES, (one) => readPage(table, one, request, begin, pageRows))
        read += counts.reduce((sum, count) => sum + count, 0)
        continue
      }
      const next = firstOf(readings)?.unread.shift()
      if (next === undefined) return { rows }
      const listed = next.row !== undefined && isListed(next.row) ? describeRow(next.row, now) : undefined
      if (listed !== undefined && accepts(listed)) {
        if (rows.length === limit) return { rows, cursor: formatCursor(last) }
        rows.push(listed)
      }
      last = next
    }
  } catch (error) {
    throw toStoreError(table, OPERATION, error)
  }
}

/**
 * What reading a window costs: counts one page of at most 1 MB a shard, at half the price.
 * @throws PostdateError `persistence.unavailable`, `.access-denied`, `.misconfigured`
 */
export const estimateRows = async (table: Table, shards: readonly number[], window: DueWindow): Promise<ReadCost> => {
  if (window.dueFrom >= window.dueBefore) return { rows: 0, readUnits: 0, isLowerBound: false }
  try {
    const counts = await runBounded(shards, MOST_QUERIES, async (shard) => {
      const answer = await table.client.send(
        new QueryCommand({
          TableName: table.tableName,
          Select: 'COUNT',
          ReturnConsumedCapacity: 'TOTAL',
          ...queryOf(shard, window, ''),
        }),
      )
      // A list reads consistently, which costs twice as much.
      const readUnits = (answer.ConsumedCapacity?.CapacityUnits ?? 0) * 2
      return { rows: answer.Count ?? 0, readUnits, isLowerBound: answer.LastEvaluatedKey !== undefined }
    })
    return {
      rows: counts.reduce((sum, { rows }) => sum + rows, 0),
      readUnits: counts.reduce((sum, { readUnits }) => sum + readUnits, 0),
      isLowerBound: counts.some(({ isLowerBound }) => isLowerBound),
    }
  } catch (error) {
    throw toStoreError(table, OPERATION, error)
  }
}
