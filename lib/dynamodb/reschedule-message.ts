import { PostdateError } from '../core/errors.js'
import { claimableFrom, formatLease, type Lease, recallAnswer } from '../core/lease.js'
import type { RescheduleOutcome, RowAddress } from '../core/persistence.js'
import type { Row } from './attributes.js'
import { toStoreError } from './failures.js'
import { finishMove, isArriving, isLeaving, settleArrival } from './finish-move.js'
import { isDying } from './give-up-row.js'
import { keyText, movedKey } from './keys.js'
import { locateRow } from './locate-row.js'
import { toMovedRow } from './move-attributes.js'
import { moveRow } from './move-row.js'
import { swapRegister } from './swap-register.js'
import type { Table } from './table.js'

const OPERATION = 'reschedule a message'

/** How often it is begun anew after another came first. Each time, somebody else's write went through. */
const MOST_LOOKS = 30

/** How long another move to the same instant may take before it is broken off. */
const WAIT_MS = 20
const MOST_WAITS = 5

/** A reschedule under way. */
export interface Rescheduling {
  readonly table: Table
  readonly now: number
  /** The instant to move to; a millisecond later when another row of the message is there. */
  dueAt: number
  waits: number
  /** A row that moved away from there itself, and is written over. */
  over: Row | undefined
}

/** Lets a row that was given back be claimed from an instant on, where it is. Answers whether that is so now. */
const claimableBy = async ({ table }: Rescheduling, row: Row, lease: Lease, from: number): Promise<boolean> => {
  if ((claimableFrom(lease) ?? 0) <= from) return true
  const next = formatLease({ ...lease, until: from, token: table.newToken() })
  return swapRegister(table, OPERATION, row.key, row.item.lease?.S ?? '', next)
}

/** Makes way at the new address, or chooses the next one. */
export const makeWay = async (rescheduling: Rescheduling, row: Row, by: Row | undefined): Promise<void> => {
  const { table } = rescheduling
  if (by === undefined) return
  if (isArriving(by)) {
    // Another moves something there at this moment; two that break each other off at once would do so for ever.
    if (rescheduling.waits++ < MOST_WAITS) await table.wait(WAIT_MS * (0.5 + Math.random()))
    else await settleArrival(table, by)
  } else if (isLeaving(by)) await finishMove(table, by)
  else if (by.lease?.state === 'g' && keyText(movedKey(by)) === keyText(movedKey(row))) rescheduling.over = by
  else rescheduling.dueAt++
}

/** The outcome, or `undefined` when another came first and it has to be begun anew. */
const moveWaiting = async (
  rescheduling: Rescheduling,
  row: Row,
  lease: Lease,
): Promise<RescheduleOutcome | undefined> => {
  const { table, now, dueAt, over } = rescheduling
  const answer = recallAnswer(lease, now)
  if (answer === 'too-late') return { outcome: answer }
  if (answer === 'already-recalled') return { outcome: 'recalled' }
  const outcome = answer === 'recalled' ? 'rescheduled' : answer
  const { shard, rowId, firstDueAt = row.dueAt } = row
  if (row.dueAt === dueAt || (row.dueAt <= now && dueAt <= now)) {
    const address = { shard, rowId, dueAt: row.dueAt, ...(firstDueAt !== row.dueAt && { firstDueAt }) }
    return (await claimableBy(rescheduling, row, lease, Math.max(dueAt, now))) ? { outcome, address } : undefined
  }
  const address = { shard, rowId, dueAt, ...(firstDueAt !== dueAt && { firstDueAt }) }
  const arriving = toMovedRow(row, { ...address, firstDueAt })
  rescheduling.over = undefined
  const move = { operation: OPERATION, from: row, to: address, arriving, isReplacement: false } as const
  const moved = await moveRow(table, over === undefined ? move : { ...move, over })
  if (moved.result === 'moved') return { outcome, address }
  if (moved.result === 'taken') await makeWay(rescheduling, row, moved.by)
  return undefined
}

const look = async (rescheduling: Rescheduling, address: RowAddress): Promise<RescheduleOutcome | undefined> => {
  const { table, now } = rescheduling
  const found = await locateRow(table, OPERATION, address)
  if (found.at === 'replaced') return { outcome: 'recalled' }
  if (found.at === 'none') return { outcome: found.wasMoved || address.dueAt <= now ? 'too-late' : 'not-found' }
  const { row } = found
  if (found.at === 'dead') return { outcome: row.item.withdrawnAt === undefined ? 'dead' : 'recalled' }
  // A row whose register can't be read is given up by the next pass that meets it.
  if (row.lease === undefined || isDying(row)) return { outcome: 'dead' }
  return moveWaiting(rescheduling, row, row.lease)
}

/**
 * Moves a row to another instant. It swaps the register that claims and recalls swap too, so exactly one wins; whoever loses
 * looks again. See `moveRow` for why there are never two rows and never none.
 * @throws PostdateError `persistence.unavailable` (it may be repeated), `.access-denied`, `.misconfigured`
 */
export const rescheduleMessage = async (
  table: Table,
  address: RowAddress,
  dueAt: number,
  now: number,
): Promise<RescheduleOutcome> => {
  const rescheduling: Rescheduling = { table, now, dueAt, waits: 0, over: undefined }
  try {
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const outcome = await look(rescheduling, address)
      if (outcome !== undefined) return outcome
    }
  } catch (error) {
    throw toStoreError(table, OPERATION, error)
  }
  throw new PostdateError('persistence.unavailable', {
    persistence: table.name,
    operation: OPERATION,
    reason: `others changed the row ${MOST_LOOKS} times meanwhile`,
  })
}
