import { decodeEnvelope } from '../core/envelope.js'
import { claimableFrom, claimed, formatLease, LEASE_MARGIN_MS } from '../core/lease.js'
import type { Claim, ClaimRequest, ClaimResult } from '../core/persistence.js'
import { forgetRow, type MemoryStore, type Row, type StoredMessage } from './rows.js'
import type { SortedRows } from './sorted-rows.js'

/**
 * Whether a row that was recalled or moved away has done its service: it keeps a store that is still in flight from arriving
 * after the answer. Judged by `now` and never by the look-ahead, and the margin later, since the caller's clock may lag behind
 * ours.
 */
const isSpent = ({ lease, dueAt }: Row, now: number) =>
  (lease.state === 'r' || lease.state === 'g') && dueAt + LEASE_MARGIN_MS <= now

/** The rows of several shards in the order of their due instants. */
function* oldestFirst(shards: readonly SortedRows<Row>[]): Generator<Row> {
  const readers = shards.map((rows) => rows.values())
  const heads = readers.map((reader) => reader.next().value)
  for (;;) {
    let oldest: Row | undefined
    let from = 0
    for (const [index, row] of heads.entries()) {
      if (row === undefined || (oldest !== undefined && oldest.sortKey <= row.sortKey)) continue
      oldest = row
      from = index
    }
    if (oldest === undefined) return
    yield oldest
    heads[from] = readers[from]?.next().value
  }
}

const earlier = (one: number | undefined, other: number) => (one === undefined ? other : Math.min(one, other))

const claimRow = (row: Row, message: StoredMessage, leaseUntil: number, token: string): Claim => {
  row.lease = claimed(row.lease, leaseUntil, token)
  const { shard, dueAt, rowId, lease, failures } = row
  return {
    shard,
    dueAt,
    rowId,
    lease: formatLease(lease),
    leaseUntil,
    envelope: decodeEnvelope(message.text, message.identity),
    bytes: message.bytes,
    ...(message.target !== undefined && { target: message.target }),
    attempt: message.attempt,
    claims: lease.claims,
    failures,
  }
}

const claimOldest = (store: MemoryStore, request: ClaimRequest, spent: Row[]): ClaimResult => {
  const { now, dueBefore, limit, leaseMs, maxBytes = Number.POSITIVE_INFINITY } = request
  const shards = [...new Set(request.shards ?? store.due.keys())].flatMap((shard) => store.due.get(shard) ?? [])
  const claims: Claim[] = []
  let bytes = 0
  let nextDueAt: number | undefined
  for (const row of oldestFirst(shards)) {
    if (isSpent(row, now)) spent.push(row)
    const from = claimableFrom(row.lease)
    if (from === undefined || row.message === undefined) continue
    if (row.dueAt > dueBefore) {
      nextDueAt = earlier(nextDueAt, Math.max(row.dueAt, from))
      // The rows behind are due no earlier than this one; if it is held past its instant, the next may overtake it.
      if (from <= row.dueAt || nextDueAt <= row.dueAt) break
      continue
    }
    if (from > now) {
      nextDueAt = earlier(nextDueAt, from)
      continue
    }
    const fits = claims.length === 0 || bytes + row.message.bytes <= maxBytes
    if (claims.length >= limit || !fits) return { claims, nextDueAt: now, more: true }
    bytes += row.message.bytes
    claims.push(claimRow(row, row.message, now + leaseMs, store.newToken()))
  }
  return { claims, nextDueAt, more: false }
}

/** Claims due rows, oldest first across the shards, and removes those that it passes and that are spent. */
export const claimDue = (store: MemoryStore, request: ClaimRequest): ClaimResult => {
  const spent: Row[] = []
  const result = claimOldest(store, request, spent)
  for (const row of spent) {
    store.due.get(row.shard)?.remove(row.sortKey)
    if (row.lease.state === 'r') forgetRow(store, row)
  }
  return result
}
