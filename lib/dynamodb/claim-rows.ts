import type { PostdateError } from '../core/errors.js'
import { claimableFrom, claimed, formatLease, type Lease, parseLease } from '../core/lease.js'
import type { Row } from './attributes.js'
import { toStoreError } from './failures.js'
import { keyText } from './keys.js'
import { readItems } from './read-items.js'
import { runBounded } from './run-bounded.js'
import { swapDamagedRow } from './swap-damaged-row.js'
import type { Table } from './table.js'
import { type FinalResult, writeItems } from './write-items.js'

const OPERATION = 'claim due messages'
const MOST_REQUESTS = 8

/** A row and the register that claims it. */
export interface ClaimedRow {
  readonly row: Row
  readonly lease: Lease
  readonly register: string
}

/** What became of the rows that a pass tried to claim. */
export interface ClaimedRows {
  readonly won: readonly ClaimedRow[]
  /** The earliest instant at which one that was not won may be claimable. */
  readonly nextDueAt: number | undefined
  /** Why some could not be tried; they are left alone. */
  readonly error: PostdateError | undefined
}

/** Of a row whose register can't be read, nobody knows whether it was published: as if given back perhaps published. */
const UNKNOWN_PAST: Lease = { until: 0, state: 'u', claims: 0, token: '' }

const swapAll = async (table: Table, tries: readonly ClaimedRow[]): Promise<readonly FinalResult[]> => {
  const sound = tries.filter(({ row }) => row.lease !== undefined)
  const damaged = tries.filter(({ row }) => row.lease === undefined)
  const [swapped, repaired] = await Promise.all([
    writeItems(
      table,
      OPERATION,
      sound.map(({ row, register }) => ({
        write: 'swap',
        key: row.key,
        seen: row.item.lease?.S ?? '',
        next: register,
      })),
    ),
    runBounded(damaged, MOST_REQUESTS, ({ row, register }) => swapDamagedRow(table, OPERATION, row, register)),
  ])
  const results = new Map<ClaimedRow, FinalResult>()
  for (const [index, one] of sound.entries()) results.set(one, swapped[index] as FinalResult)
  for (const [index, one] of damaged.entries()) results.set(one, repaired[index] as FinalResult)
  return tries.map((one) => results.get(one) as FinalResult)
}

/**
 * Claims rows by swapping their registers. A claim counts only if my register is in the row: as the answer says, or, after a
 * refusal or a lost answer, as a consistent look says. What fails is left alone: nothing was claimed, or the lease ends by itself.
 * Never throws.
 */
export const claimRows = async (table: Table, rows: readonly Row[], leaseUntil: number): Promise<ClaimedRows> => {
  const tries = rows.map((row): ClaimedRow => {
    const lease = claimed(row.lease ?? UNKNOWN_PAST, leaseUntil, table.newToken())
    return { row, lease, register: formatLease(lease) }
  })
  const results = await swapAll(table, tries)
  const won: ClaimedRow[] = []
  const doubtful: ClaimedRow[] = []
  let error: PostdateError | undefined
  for (const [index, one] of tries.entries()) {
    const result = results[index]
    if (result?.result === 'done') won.push(one)
    else if (result?.result === 'refused' || (result?.result === 'failed' && result.applied === 'unknown'))
      doubtful.push(one)
    if (result?.result === 'failed') error ??= result.error
  }
  if (doubtful.length === 0) return { won, nextDueAt: undefined, error }

  let nextDueAt: number | undefined
  try {
    const items = await readItems(
      table,
      OPERATION,
      doubtful.map(({ row }) => row.key),
    )
    for (const one of doubtful) {
      const found = items.get(keyText(one.row.key))?.lease?.S
      if (found === one.register) won.push(one)
      const held = found === undefined || found === one.register ? undefined : parseLease(found)
      const from = held === undefined ? undefined : claimableFrom(held)
      if (from !== undefined) nextDueAt = Math.min(nextDueAt ?? from, from)
    }
  } catch (failure) {
    error ??= toStoreError(table, OPERATION, failure)
  }
  return { won, nextDueAt, error }
}
