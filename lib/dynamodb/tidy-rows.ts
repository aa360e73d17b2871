import type { Row } from './attributes.js'
import type { Operation } from './failures.js'
import { finishMove, isArriving, settleArrival } from './finish-move.js'
import { finishDeath } from './give-up-row.js'
import type { ShardReading } from './read-shard.js'
import { runBounded } from './run-bounded.js'
import type { Table } from './table.js'
import { writeItems } from './write-items.js'

const MOST_REQUESTS = 16

/** How soon a pass looks again at an arriving row that it could not put in force, in milliseconds. */
const TRY_AGAIN_MS = 1_000

/**
 * How long after its instant a row whose move was not made is left alone, in milliseconds. It is in force nowhere, so nothing is
 * late for it, and whoever writes it is mostly about to make the move: a message that is due now, say.
 */
const BREAK_OFF_AFTER_MS = 5_000

const warn = (table: Table, what: string, row: Row | undefined, error: unknown): void =>
  table.logger.warn(what, { rowId: row?.rowId, error: String(error) })

/** Finishes moves that broke off. Answers when there is something to claim for it, epoch milliseconds. */
const finishMoves = async (table: Table, now: number, moving: readonly Row[]): Promise<number | undefined> => {
  let nextDueAt: number | undefined
  await runBounded(moving, MOST_REQUESTS, async (row) => {
    const isDue = isArriving(row)
    if (isDue) nextDueAt ??= now + TRY_AGAIN_MS
    try {
      if (!isDue) await finishMove(table, row)
      else if (await settleArrival(table, row, row.dueAt + BREAK_OFF_AFTER_MS <= now)) nextDueAt = now
    } catch (error) {
      warn(table, 'a move that broke off could not be finished', row, error)
    }
  })
  return nextDueAt
}

/**
 * Removes rows that have done their service, and finishes deaths and moves that broke off. What fails waits for the next
 * pass. Answers when that one has something to claim for it, epoch milliseconds.
 */
export const tidyRows = async (
  table: Table,
  operation: Operation,
  now: number,
  readings: readonly ShardReading[],
): Promise<number | undefined> => {
  const spent = readings.flatMap((reading) => reading.spent)
  const dying = readings.flatMap((reading) => reading.dying)
  if (spent.length > 0) {
    const results = await writeItems(
      table,
      operation,
      spent.map(({ key, item }) => ({ write: 'delete', key, seen: item.lease?.S ?? '' })),
    )
    for (const [index, result] of results.entries())
      if (result.result === 'failed')
        warn(table, 'a row that was withdrawn or moved could not be removed', spent[index], result.error)
  }
  await runBounded(dying, MOST_REQUESTS, async (row) => {
    try {
      await finishDeath(table, row)
    } catch (error) {
      warn(table, 'a row that was given up is not yet among the dead', row, error)
    }
  })
  return finishMoves(
    table,
    now,
    readings.flatMap((reading) => reading.moving),
  )
}
