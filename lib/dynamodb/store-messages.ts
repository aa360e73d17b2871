import { encodeEnvelope, sameContent } from '../core/envelope.js'
import { PostdateError } from '../core/errors.js'
import { formatLease, isMovedAway, neverClaimed } from '../core/lease.js'
import type { OutgoingMessage, StoreOutcome } from '../core/persistence.js'
import { type NewRow, type Row, readEnvelope, readRow, toNewRow } from './attributes.js'
import { readBodies, storeBodies } from './bodies.js'
import { toStoreError } from './failures.js'
import { isArriving, settleArrival } from './finish-move.js'
import { itemBytes } from './item-size.js'
import { dueKey, type ItemKey, keyText } from './keys.js'
import { locateRow } from './locate-row.js'
import { readItems } from './read-items.js'
import type { Table } from './table.js'
import { type FinalResult, writeItems } from './write-items.js'

const OPERATION = 'store messages'

/** How often a row whose key was taken, and then free again, is tried. */
const MOST_ROUNDS = 3

/** A message on its way into the table. */
interface Storing extends NewRow {
  readonly message: OutgoingMessage
  readonly key: ItemKey
  /** The register that this store writes: found in the row, it proves that the row is ours. */
  readonly lease: string
  outcome: StoreOutcome | undefined
  /** An earlier try of this very row may have been applied. */
  mayBeMine: boolean
}

const prepare = (table: Table, message: OutgoingMessage): Storing => {
  const lease = formatLease(neverClaimed(table.newToken()))
  const { row, body } = toNewRow(message, encodeEnvelope(message.envelope), lease)
  return { message, key: dueKey(message), lease, row, body, outcome: undefined, mayBeMine: false }
}

/** Bodies go first, so that no row ever refers to one that is not there yet. */
const storeAllBodies = async (table: Table, storings: readonly Storing[]) => {
  const thick = storings.filter((storing) => storing.body !== undefined)
  const bodies = thick.flatMap(({ body, message }) => (body === undefined ? [] : { body, dueAt: message.dueAt }))
  const results = await storeBodies(table, OPERATION, bodies)
  for (const [index, storing] of thick.entries()) {
    const result = results[index]
    if (result?.result === 'failed') storing.outcome = { outcome: 'failed', stored: 'no', error: result.error }
  }
}

/** Whether the row that is there holds the message that was to be stored. */
const isSameMessage = (storing: Storing, row: Row, bodyText: string | undefined): boolean => {
  const { bodyRef } = storing.row
  // The reference holds the hash of the envelope: the same reference, the same envelope.
  if (bodyRef?.S !== undefined && bodyRef.S === row.item.bodyRef?.S) return true
  const kept = readEnvelope(row, bodyText)
  return typeof kept !== 'string' && sameContent(kept, storing.message.envelope)
}

const judgeTaken = (storing: Storing, row: Row | undefined, bodyText: string | undefined): StoreOutcome => {
  if (row === undefined) return { outcome: 'conflict' }
  if (row.item.lease?.S === storing.lease) return { outcome: 'stored' }
  if (row.lease?.state === 'r') return { outcome: 'recalled' }
  return { outcome: isSameMessage(storing, row, bodyText) ? 'duplicate' : 'conflict' }
}

/**
 * Of a row that moved, the one that it became counts: withdrawn, it stays so. A row that is still arriving is settled first,
 * and then there is another try.
 */
const judgeMoved = async (
  table: Table,
  storing: Storing,
  row: Row,
  bodyText: string | undefined,
): Promise<StoreOutcome | undefined> => {
  if (isArriving(row)) {
    await settleArrival(table, row)
    return undefined
  }
  const found = await locateRow(table, OPERATION, storing.message)
  const isWithdrawn =
    found.at === 'replaced' ||
    (found.at === 'due' && found.row.lease?.state === 'r') ||
    (found.at === 'dead' && found.row.item.withdrawnAt !== undefined)
  return isWithdrawn ? { outcome: 'recalled' } : judgeTaken(storing, row, bodyText)
}

/**
 * What a row that is in the place of a message means for it; `undefined` when that has to be tried again.
 * @throws PostdateError `persistence.*`
 */
export const judgeExisting = async (
  table: Table,
  message: OutgoingMessage,
  row: Row,
): Promise<StoreOutcome | undefined> => {
  const storing = prepare(table, message)
  const bodyText = (await readBodies(table, OPERATION, [row]))(row)
  const isMoving = isArriving(row) || isMovedAway(row.lease)
  return isMoving ? judgeMoved(table, storing, row, bodyText) : judgeTaken(storing, row, bodyText)
}

const unknown = (error: PostdateError): StoreOutcome => ({ outcome: 'failed', stored: 'unknown', error })

/** Looks at the rows whose store was refused or left in doubt, and decides. What stays undecided is to be tried again. */
const lookUp = async (table: Table, doubtful: readonly (readonly [Storing, FinalResult])[]): Promise<void> => {
  try {
    const items = await readItems(
      table,
      OPERATION,
      doubtful.map(([{ key }]) => key),
    )
    const rowOf = ({ key, message }: Storing) => {
      const item = items.get(keyText(key))
      return item === undefined ? undefined : readRow(item, message.shard)
    }
    const bodyOf = await readBodies(
      table,
      OPERATION,
      doubtful.flatMap(([storing]) => rowOf(storing) ?? []),
    )
    for (const [storing, result] of doubtful) {
      const row = rowOf(storing)
      if (row !== undefined && (isArriving(row) || isMovedAway(row.lease)))
        storing.outcome = await judgeMoved(table, storing, row, bodyOf(row))
      else if (items.has(keyText(storing.key)))
        storing.outcome = judgeTaken(storing, row, row === undefined ? undefined : bodyOf(row))
      // Absent after a lost answer: the request may still arrive. The caller has the receipt, and may send again.
      else if (result.result === 'failed') storing.outcome = unknown(result.error)
      // Mine was there, and is dispatched already.
      else if (storing.mayBeMine) storing.outcome = { outcome: 'stored' }
    }
  } catch (error) {
    const typed = toStoreError(table, OPERATION, error)
    for (const [storing, result] of doubtful)
      storing.outcome ??= unknown(result.result === 'failed' ? result.error : typed)
  }
}

/** Tries to create the rows that have no outcome yet. */
const storeRows = async (table: Table, storings: readonly Storing[]): Promise<void> => {
  const results = await writeItems(
    table,
    OPERATION,
    storings.map(({ key, row }) => ({ write: 'insert', key, item: row, bytes: itemBytes(row) })),
  )
  const doubtful: [Storing, FinalResult][] = []
  for (const [index, storing] of storings.entries()) {
    const result = results[index]
    if (result === undefined) continue
    if (result.result === 'done') storing.outcome = { outcome: 'stored' }
    else if (result.result === 'failed' && result.applied === 'no')
      storing.outcome = { outcome: 'failed', stored: storing.mayBeMine ? 'unknown' : 'no', error: result.error }
    else {
      if (result.result === 'refused') storing.mayBeMine ||= result.mayBeMine
      doubtful.push([storing, result])
    }
  }
  if (doubtful.length > 0) await lookUp(table, doubtful)
}

/**
 * Stores messages: bodies first, then the rows, 25 to a request. A key that is taken is looked at: by the row I just wrote
 * (my own token), by a recall, by the same message, or by another. One outcome per message, in order; never throws.
 */
export const storeMessages = async (
  table: Table,
  messages: readonly OutgoingMessage[],
): Promise<readonly StoreOutcome[]> => {
  const storings = messages.map((message) => prepare(table, message))
  await storeAllBodies(table, storings)
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const left = storings.filter(({ outcome }) => outcome === undefined)
    if (left.length === 0) break
    await storeRows(table, left)
  }
  const gaveUp = () =>
    unknown(
      new PostdateError('persistence.unavailable', {
        persistence: table.name,
        operation: OPERATION,
        reason: `the row's key was taken and free again ${MOST_ROUNDS} times`,
      }),
    )
  return storings.map(({ outcome }) => outcome ?? gaveUp())
}
