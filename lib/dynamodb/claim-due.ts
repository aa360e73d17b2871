import type { PostdateError } from '../core/errors.js'
import type { Claim, ClaimRequest, ClaimResult } from '../core/persistence.js'
import { type Row, readEnvelope } from './attributes.js'
import { readBodies } from './bodies.js'
import { type ClaimedRow, claimRows } from './claim-rows.js'
import { toStoreError } from './failures.js'
import { openReading, readDuePage, readHead, readTail, type ShardReading } from './read-shard.js'
import { releaseClaims } from './release-claims.js'
import { runBounded } from './run-bounded.js'
import type { Table } from './table.js'
import { tidyRows } from './tidy-rows.js'

const OPERATION = 'claim due messages'
const MOST_QUERIES = 16

/** Errors of single shards or rows, gathered so that what works goes on. */
interface Pass {
  readonly table: Table
  readonly request: ClaimRequest
  error: PostdateError | undefined
}

const noteError = (pass: Pass, error: unknown) => {
  pass.error ??= toStoreError(pass.table, OPERATION, error)
}

const readEach = (
  pass: Pass,
  readings: readonly ShardReading[],
  read: (table: Table, reading: ShardReading, request: ClaimRequest) => Promise<void>,
) =>
  runBounded(readings, MOST_QUERIES, async (reading) => {
    try {
      await read(pass.table, reading, pass.request)
    } catch (error) {
      // One shard that can't be read harms no other; the next pass tries it again.
      noteError(pass, error)
      reading.state = 'done'
    }
  })

/**
 * Reads all heads, and then on, evenly, until there are enough rows or none are left. Of a shard in which the last pass left
 * due rows, its share is read at once: a request less, which under load is a fifth of the CPU.
 */
const readShards = async (pass: Pass, readings: readonly ShardReading[], busy: ReadonlySet<number>): Promise<void> => {
  const share = Math.ceil(pass.request.limit / readings.length) + 1
  await readEach(pass, readings, (table, reading, request) =>
    readHead(table, reading, request, busy.has(reading.shard) ? share : 0),
  )
  for (;;) {
    const open = readings.filter(({ state }) => state === 'more')
    const missing = pass.request.limit - readings.reduce((sum, { claimable }) => sum + claimable.length, 0)
    if (open.length === 0 || missing <= 0) return
    // One row more than needed tells, mostly for nothing, whether there is more.
    const wanted = Math.ceil(missing / open.length) + 1
    await readEach(pass, open, (table, reading, request) => readDuePage(table, reading, request, wanted))
  }
}

/** The oldest rows of all shards, within the limits of the request. Rows of one instant come in the order of the readings. */
const choose = (readings: readonly ShardReading[], { limit, maxBytes = Number.POSITIVE_INFINITY }: ClaimRequest) => {
  const rows = readings.flatMap(({ claimable }) => claimable).sort((one, other) => one.dueAt - other.dueAt)
  const chosen: Row[] = []
  let bytes = 0
  for (const row of rows) {
    if (chosen.length >= limit || (chosen.length > 0 && bytes + row.bytes > maxBytes)) break
    chosen.push(row)
    bytes += row.bytes
  }
  return { chosen, left: rows.slice(chosen.length) }
}

const toClaim = ({ row, lease, register }: ClaimedRow, bodyText: string | undefined): Claim => ({
  shard: row.shard,
  dueAt: row.dueAt,
  rowId: row.rowId,
  lease: register,
  leaseUntil: lease.until,
  envelope: readEnvelope(row, bodyText),
  bytes: row.bytes,
  ...(row.target !== undefined && { target: row.target }),
  attempt: row.attempt,
  claims: lease.claims,
  failures: row.failures,
})

/** Reads the bodies of claimed rows. Rows whose body can't be read now are given back, for the next pass. */
const toClaims = async (pass: Pass, won: readonly ClaimedRow[]): Promise<Claim[]> => {
  const { table, request } = pass
  try {
    const bodyOf = await readBodies(
      table,
      OPERATION,
      won.map(({ row }) => row),
    )
    return won.map((one) => toClaim(one, bodyOf(one.row)))
  } catch (error) {
    noteError(pass, error)
    const claims = won.map((one) => ({ thick: one.row.content.kind === 'body', claim: toClaim(one, undefined) }))
    const unread = claims.flatMap(({ thick, claim }) => (thick ? claim : []))
    // Best effort: a claim that can't be given back ends with its lease.
    await releaseClaims(
      table,
      unread.map((claim) => ({ claim, published: 'no', notBefore: request.now })),
    )
    return claims.flatMap(({ thick, claim }) => (thick ? [] : claim))
  }
}

const earliest = (instants: readonly (number | undefined)[]): number | undefined => {
  const known = instants.filter((at) => at !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** What a pass learned of its shards, for the next one. */
export interface DuePass extends ClaimResult {
  /** The shards in which nothing was to be claimed, and the earliest instant at which that may change. */
  readonly quiet: ReadonlyMap<number, number | undefined>
  /** The shards in which due rows were left. */
  readonly busy: ReadonlySet<number>
}

const isQuiet = ({ state, claimable, moving }: ShardReading) =>
  state === 'done' && claimable.length === 0 && moving.length === 0

/**
 * Claims due rows of these shards, oldest first; the order of the shards decides between rows of one instant.
 * `busy` names those in which the last pass left due rows.
 *
 * A shard or a row that fails is left to the next pass, which `nextDueAt` asks for at once, and the logger is told.
 * @throws PostdateError `persistence.unavailable`, `.access-denied`, `.misconfigured` when nothing could be claimed for that
 * reason.
 */
export const claimDue = async (
  table: Table,
  request: ClaimRequest,
  shards: readonly number[],
  busy: ReadonlySet<number> = new Set(),
): Promise<DuePass> => {
  const pass: Pass = { table, request, error: undefined }
  const readings = shards.map(openReading)
  await readShards(pass, readings, busy)
  const { chosen, left } = choose(readings, request)
  const unclaimed = new Set(left.map(({ shard }) => shard))
  const more = left.length > 0 || readings.some(({ state }) => state === 'more')
  const [claimedRows, tidiedDueAt] = await Promise.all([
    claimRows(table, chosen, request.now + request.leaseMs),
    tidyRows(table, OPERATION, request.now, readings),
    more
      ? undefined
      : readEach(
          pass,
          readings.filter(({ state }) => state === 'tail'),
          readTail,
        ),
  ])
  if (claimedRows.error !== undefined) noteError(pass, claimedRows.error)
  const claims = await toClaims(pass, claimedRows.won)
  if (pass.error !== undefined) {
    if (claims.length === 0) throw pass.error
    table.logger.warn('a part of the due messages could not be claimed; the next pass tries again', {
      code: pass.error.code,
      error: pass.error.message,
    })
  }
  const now = more || pass.error !== undefined ? request.now : undefined
  return {
    claims: claims.sort((one, other) => one.dueAt - other.dueAt),
    nextDueAt: earliest([now, claimedRows.nextDueAt, tidiedDueAt, ...readings.map(({ nextDueAt }) => nextDueAt)]),
    more,
    quiet: new Map(
      pass.error === undefined ? readings.filter(isQuiet).map(({ shard, nextDueAt }) => [shard, nextDueAt]) : [],
    ),
    busy: new Set(
      readings.filter(({ state, shard }) => state === 'more' || unclaimed.has(shard)).map(({ shard }) => shard),
    ),
  }
}
