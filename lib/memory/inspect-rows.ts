import { decodeEnvelope } from '../core/envelope.js'
import type { DueWindow, ListPage, ListRequest, PeekedRow, ReadCost } from '../core/inspection.js'
import { isMovedAway } from '../core/lease.js'
import type { RowAddress } from '../core/persistence.js'
import { describeRow } from './describe-row.js'
import { locateRow } from './locate-row.js'
import type { MemoryStore, Row } from './rows.js'

/** Where a row comes in the order of all shards; also the cursor after it. */
const placeOf = ({ sortKey, shard }: Row): string => `${sortKey} ${String(shard).padStart(10, '0')}`

const rowsIn = (store: MemoryStore, { dueFrom, dueBefore }: DueWindow): Row[] => {
  const rows: Row[] = []
  for (const shard of store.due.values()) {
    for (const row of shard.values()) {
      if (row.dueAt >= dueBefore) break
      if (row.dueAt >= dueFrom && !isMovedAway(row.lease)) rows.push(row)
    }
  }
  return rows
}

/** The rows of a window, page by page. */
export const listRows = (store: MemoryStore, request: ListRequest): ListPage => {
  const { now, limit, cursor = '', accepts = ({ state }) => state !== 'recalled' } = request
  const places = rowsIn(store, request).map((row) => ({ row, place: placeOf(row) }))
  const left = places.filter(({ place }) => place > cursor).sort((one, other) => (one.place < other.place ? -1 : 1))
  const found = left.map(({ row, place }) => ({ listed: describeRow(row, now), place }))
  const accepted = found.filter(({ listed }) => accepts(listed))
  const page = accepted.slice(0, limit)
  const last = page.at(-1)
  return {
    rows: page.map(({ listed }) => listed),
    ...(accepted.length > limit && last !== undefined && { cursor: last.place }),
  }
}

/** Reading memory costs nothing. */
export const estimateRows = (store: MemoryStore, window: DueWindow): ReadCost => ({
  rows: rowsIn(store, window).length,
  readUnits: 0,
  isLowerBound: false,
})

/** The row of an address with its content. */
export const peekRow = (store: MemoryStore, address: RowAddress, now: number): PeekedRow | undefined => {
  const found = locateRow(store, address)
  if (found.at === 'none') return undefined
  const { message } = found.row
  return {
    ...describeRow(found.row, now),
    envelope: message === undefined ? undefined : decodeEnvelope(message.text, message.identity),
    ...(found.at === 'dead' && { death: { reason: found.row.reason, diedAt: found.row.diedAt } }),
  }
}
