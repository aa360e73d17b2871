import { arrived, claimableFrom, movedAway, movedForGood, recallAnswer } from '../core/lease.js'
import type { RescheduleOutcome, RowAddress } from '../core/persistence.js'
import { locateRow } from './locate-row.js'
import { addressOf, chainOf, type MemoryStore, type Row, rowsOf, sortKeyOf } from './rows.js'

/** The first address from an instant on that another row, or what a recall left, does not take. */
export const freeAddress = (store: MemoryStore, row: Row, dueAt: number): RowAddress => {
  const address = addressOf({ ...row, dueAt, firstDueAt: row.firstDueAt ?? row.dueAt })
  const taken = store.due.get(row.shard)?.find(sortKeyOf(address))
  // Where it has been itself it may be again.
  return taken === undefined || (taken.lease.state === 'g' && chainOf(taken) === chainOf(row))
    ? address
    : freeAddress(store, row, dueAt + 1)
}

const moveRow = (store: MemoryStore, row: Row, to: RowAddress): void => {
  const rows = rowsOf(store.due, row.shard)
  const sortKey = sortKeyOf(to)
  rows.remove(sortKey)
  const lease = arrived(row.lease, store.newToken())
  const { firstDueAt: _, ...content } = row
  rows.insert({ ...content, ...to, sortKey, lease })
  store.moved.set(chainOf(row), to)
  // What stays behind answers a repeat of the send, which would be a second row.
  row.lease = movedForGood(movedAway(to.dueAt, ''), store.newToken())
}

/** Moves a row to another instant, if it is still to be had. */
export const rescheduleMessage = (
  store: MemoryStore,
  address: RowAddress,
  dueAt: number,
  now: number,
): RescheduleOutcome => {
  const found = locateRow(store, address)
  if (found.at === 'dead') return { outcome: 'dead' }
  if (found.at === 'none') return { outcome: found.wasMoved || address.dueAt <= now ? 'too-late' : 'not-found' }
  const { row } = found
  const answer = recallAnswer(row.lease, now)
  if (answer === 'too-late') return { outcome: answer }
  if (answer === 'already-recalled') return { outcome: 'recalled' }
  const outcome = answer === 'recalled' ? 'rescheduled' : answer
  if (row.dueAt === dueAt || (row.dueAt <= now && dueAt <= now)) {
    const from = Math.max(dueAt, now)
    if ((claimableFrom(row.lease) ?? 0) > from) row.lease = { ...row.lease, until: from, token: store.newToken() }
    return { outcome, address: addressOf(row) }
  }
  const to = freeAddress(store, row, dueAt)
  moveRow(store, row, to)
  return { outcome, address: to }
}
