import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { encodeEnvelope } from '../core/envelope.js'
import { PostdateError } from '../core/errors.js'
import type { KeyedMessage, KeyedOutcome, Keys } from '../core/keys.js'
import { arriving, formatLease, movedAway, neverClaimed, recallAnswer, withdrawn } from '../core/lease.js'
import type { RowAddress } from '../core/persistence.js'
import { attemptOnce } from './attempt-write.js'
import { type NewRow, type Row, readRow, toNewRow, toTombstone } from './attributes.js'
import { storeBodies } from './bodies.js'
import { toStoreError } from './failures.js'
import { isArriving, putInForce, settleArrival } from './finish-move.js'
import { type KeyAlias, readAlias, takeAlias } from './key-alias.js'
import { addressOf } from './keys.js'
import { locateRow } from './locate-row.js'
import { toArrivingItem } from './move-attributes.js'
import { insertArriving, moveRow, takeBack } from './move-row.js'
import { judgeExisting } from './store-messages.js'
import type { Table } from './table.js'

const OPERATION = 'store a message under its key'

/** How often it is begun anew after another came first, and how long that may take on average, in milliseconds. */
const MOST_LOOKS = 50
const WAIT_MS = 10
const WAITS_BEFORE_BREAKING_OFF = 5

/** A store under way. */
interface Keying {
  readonly table: Table
  readonly message: KeyedMessage
  readonly ifScheduled: Parameters<Keys['storeUnderKey']>[1]
  readonly now: number
  looks: number
}

/** The outcome, or `undefined` when another came first and it has to be begun anew. */
type Look = Promise<KeyedOutcome | undefined>

const isWaiting = ({ lease }: Row, now: number): boolean => {
  const answer = lease === undefined ? 'too-late' : recallAnswer(lease, now)
  return answer === 'recalled' || answer === 'possibly-delivered'
}

/** The row that holds the key: it waits, so it may be kept or give way. */
export const findHolder = async (table: Table, now: number, alias: KeyAlias): Promise<Row | undefined> => {
  let { address } = alias
  while (address !== undefined) {
    const found = await locateRow(table, OPERATION, address)
    if (found.at === 'due') return isWaiting(found.row, now) ? found.row : undefined
    address = found.at === 'replaced' ? found.by : undefined
  }
  return undefined
}

/** The row of a message at an address, without a register. */
const toRow = (message: KeyedMessage, to: RowAddress): NewRow => {
  const longest = formatLease(neverClaimed(''))
  const { row, body } = toNewRow({ ...message, ...to }, encodeEnvelope(message.envelope), longest)
  const { lease: _, ...item } = row
  return { row: item, body }
}

/** What is in the place of the new row decides: this very message, what a recall left of it, or another. */
const judgeTaken = async (keying: Keying, to: RowAddress, by: Row | undefined): Look => {
  const { table, message } = keying
  if (by === undefined) return undefined
  if (isArriving(by)) {
    // Sent twice under one id at one moment: the other is given time to finish.
    if (keying.looks < WAITS_BEFORE_BREAKING_OFF) await table.wait(WAIT_MS * (0.5 + Math.random()))
    else await settleArrival(table, by)
    return undefined
  }
  const judged = await judgeExisting(table, { ...message, ...to }, by)
  if (judged?.outcome === 'duplicate' || judged?.outcome === 'stored')
    return { outcome: 'duplicate', address: addressOf(by) }
  return judged
}

/** Stores under a key that nothing holds: the alias, once it points at the new row, puts it in force. */
const storeFree = async (keying: Keying, alias: KeyAlias): Look => {
  const { table, message } = keying
  const to = addressOf(message)
  const { row, body } = toRow(message, to)
  if (body !== undefined) {
    const [stored] = await storeBodies(table, OPERATION, [{ body, dueAt: to.dueAt }])
    if (stored?.result === 'failed') throw stored.error
  }
  const token = table.newToken()
  const arrival = formatLease(arriving(token))
  const item = toArrivingItem(row, alias, arrival)
  const taken = await insertArriving(table, OPERATION, to, item)
  if (taken?.result === 'taken') return judgeTaken(keying, to, taken.by)
  if ((await takeAlias(table, OPERATION, alias, to, formatLease(movedAway(to.dueAt, token)))) === 'refused') {
    await takeBack(table, OPERATION, to, arrival)
    return undefined
  }
  try {
    const arrived = readRow(item, to.shard)
    if (arrived !== undefined) await putInForce(table, arrived, neverClaimed(''))
  } catch (error) {
    table.logger.warn('a message was stored under its key and is not yet in force; whoever meets it goes on', {
      rowId: to.rowId,
      error: String(error),
    })
  }
  return { outcome: 'stored', address: to }
}

/** Leaves a withdrawn row where the message would be: it came first, and gave way to the other at once. */
const leaveReplaced = async ({ table, now }: Keying, to: RowAddress): Promise<void> => {
  const Item = toTombstone(to, formatLease(withdrawn(now, table.newToken())))
  await attemptOnce(() =>
    table.client.send(
      new PutItemCommand({ TableName: table.tableName, Item, ConditionExpression: 'attribute_not_exists(pk)' }),
    ),
  )
}

/** Stores in the place of the row that holds the key. */
const replaceHolder = async (keying: Keying, holder: Row): Look => {
  const { table, message, ifScheduled } = keying
  const to = { ...addressOf(message), ...(ifScheduled === 'replace-payload' && { dueAt: holder.dueAt }) }
  const move = { operation: OPERATION, from: holder, to, arriving: toRow(message, to), isReplacement: true } as const
  const moved = await moveRow(table, move)
  if (moved.result === 'moved') return { outcome: 'stored', address: to, replaced: addressOf(holder) }
  if (moved.result === 'taken') return judgeTaken(keying, to, moved.by)
  const found = await locateRow(table, OPERATION, holder)
  if (found.at !== 'replaced') return undefined
  // Another replaced it while this one was about to: as if this one had been a moment earlier, and been replaced in its turn.
  await leaveReplaced(keying, to)
  return { outcome: 'stored', address: to }
}

const look = async (keying: Keying): Look => {
  const { table, message, ifScheduled, now } = keying
  const alias = await readAlias(table, OPERATION, message.key)
  const holder = await findHolder(table, now, alias)
  if (holder === undefined) return storeFree(keying, alias)
  if (holder.rowId === message.rowId) return judgeTaken(keying, addressOf(holder), holder)
  if (ifScheduled === 'keep') return { outcome: 'kept', address: addressOf(holder) }
  return replaceHolder(keying, holder)
}

/**
 * Stores a message under its key. The row is written first, not in force; one write makes it count: of the alias, where
 * nothing holds the key, or of the register of the row that gives way, which a claim of that row swaps too. A send that breaks
 * off is finished, or undone, by whoever meets its row; see `moveRow`. Never throws.
 */
export const storeUnderKey = async (
  table: Table,
  message: KeyedMessage,
  ifScheduled: Parameters<Keys['storeUnderKey']>[1],
  now: number,
): Promise<KeyedOutcome> => {
  const keying: Keying = { table, message, ifScheduled, now, looks: 0 }
  try {
    for (; keying.looks < MOST_LOOKS; keying.looks++) {
      const outcome = await look(keying)
      if (outcome !== undefined) return outcome
      await table.wait(WAIT_MS * Math.random())
    }
  } catch (error) {
    return { outcome: 'failed', stored: 'unknown', error: toStoreError(table, OPERATION, error) }
  }
  const reason = `others stored under the key ${MOST_LOOKS} times meanwhile`
  const error = new PostdateError('persistence.unavailable', { persistence: table.name, operation: OPERATION, reason })
  return { outcome: 'failed', stored: 'no', error }
}

/** Where the message is that was last stored under a key. @throws PostdateError `persistence.*` */
export const findKey = async (table: Table, key: string): Promise<RowAddress | undefined> => {
  try {
    let { address } = await readAlias(table, OPERATION, key)
    while (address !== undefined) {
      const found = await locateRow(table, OPERATION, address)
      if (found.at === 'due' || found.at === 'dead') return addressOf(found.row)
      address = found.at === 'replaced' ? found.by : undefined
    }
    return undefined
  } catch (error) {
    throw toStoreError(table, OPERATION, error)
  }
}
