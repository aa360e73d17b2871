import { isMovedAway } from '../core/lease.js'
import type { RowAddress } from '../core/persistence.js'
import { type Row, readRow } from './attributes.js'
import type { Operation } from './failures.js'
import { finishMove, isArriving, isLeaving, settleArrival } from './finish-move.js'
import { deadKey, dueKey, keyText, movedKey } from './keys.js'
import { destinationOf, readPointer, replacementOf } from './move-attributes.js'
import { readItem } from './read-items.js'
import type { Table } from './table.js'

/** What is to be found under an address. */
export type Found =
  /** A row that waits, is leased, was withdrawn, or is dying. */
  | { readonly at: 'due'; readonly row: Row }
  /** A row that is dead, or the mark of one that was withdrawn. */
  | { readonly at: 'dead'; readonly row: Row }
  /** It gave way to another message's row. */
  | { readonly at: 'replaced'; readonly row: Row; readonly by: RowAddress }
  /** `wasMoved`: there was one, and it is gone. */
  | { readonly at: 'none'; readonly wasMoved: boolean }

/** How many rows are looked at on the way; the address of every move leads to the last one in two steps or three. */
const MOST_STEPS = 20

/** Where a row that is not at an address any more was moved to, as far as is noted. */
const readMoved = async (table: Table, operation: Operation, address: RowAddress): Promise<RowAddress | undefined> => {
  const item = await readItem(table, operation, movedKey(address))
  const dueAt = item === undefined ? undefined : readPointer(item)
  return dueAt === undefined ? undefined : { ...address, dueAt, firstDueAt: address.firstDueAt ?? address.dueAt }
}

/**
 * Finds the row of an address, wherever it was moved, and finishes moves that broke off on the way. One consistent read where
 * nothing was moved and the row is there.
 * @throws what the SDK throws
 */
export const locateRow = async (table: Table, operation: Operation, address: RowAddress): Promise<Found> => {
  const visited = new Set<string>()
  let here = address
  let wasMoved = false
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const item = await readItem(table, operation, dueKey(here))
    const row = item === undefined ? undefined : readRow(item, here.shard)
    if (row !== undefined && isArriving(row)) {
      await settleArrival(table, row)
      continue
    }
    if (row !== undefined && !isMovedAway(row.lease)) return { at: 'due', row }
    if (row !== undefined && isLeaving(row)) await finishMove(table, row)
    const by = row === undefined ? undefined : replacementOf(row)
    if (row !== undefined && by !== undefined) return { at: 'replaced', row, by }
    visited.add(keyText(dueKey(here)))
    wasMoved ||= row !== undefined
    let next = row === undefined ? undefined : destinationOf(row)
    if (row === undefined) {
      const deadItem = await readItem(table, operation, deadKey(here))
      const dead = deadItem === undefined ? undefined : readRow(deadItem, here.shard)
      if (dead !== undefined && !isMovedAway(dead.lease)) return { at: 'dead', row: dead }
      if (dead !== undefined) {
        await finishMove(table, dead)
        next = destinationOf(dead)
      }
    }
    if (next === undefined || visited.has(keyText(dueKey(next)))) {
      next = await readMoved(table, operation, row ?? here)
      if (next === undefined || visited.has(keyText(dueKey(next)))) return { at: 'none', wasMoved }
    }
    wasMoved = true
    here = next
  }
  return { at: 'none', wasMoved }
}
