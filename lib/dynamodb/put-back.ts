import { DeleteItemCommand } from '@aws-sdk/client-dynamodb'
import { PostdateError } from '../core/errors.js'
import type { PutBackOutcome } from '../core/inspection.js'
import { formatLease, movedAway } from '../core/lease.js'
import type { RowAddress } from '../core/persistence.js'
import type { Row } from './attributes.js'
import { deleteBody, expireBody } from './bodies.js'
import { isRefused, toStoreError } from './failures.js'
import { finishDeath, isDying } from './give-up-row.js'
import { type KeyAlias, readAlias, takeAlias } from './key-alias.js'
import { addressOf, toKeyItem } from './keys.js'
import { locateRow } from './locate-row.js'
import { toMovedRow } from './move-attributes.js'
import { moveRow } from './move-row.js'
import { makeWay, type Rescheduling } from './reschedule-message.js'
import { findHolder } from './store-under-key.js'
import type { Table } from './table.js'

const OPERATION = 'put a dead message back'
const MOST_LOOKS = 30

/** The dead row of an address. One that is still dying is finished first. */
const findDead = async (table: Table, address: RowAddress): Promise<Row | undefined> => {
  for (;;) {
    const found = await locateRow(table, OPERATION, address)
    if (found.at === 'dead') return found.row.item.withdrawnAt === undefined ? found.row : undefined
    if (found.at !== 'due' || !isDying(found.row)) return undefined
    await finishDeath(table, found.row)
  }
}

/** Lets the key point at the row that arrives: whoever stores under it at this moment breaks one of the two off. */
const takeKey = async (table: Table, alias: KeyAlias, to: RowAddress): Promise<boolean> => {
  const register = formatLease(movedAway(to.dueAt, table.newToken()))
  return (await takeAlias(table, OPERATION, alias, to, register)) === 'made'
}

const look = async (rescheduling: Rescheduling, address: RowAddress): Promise<PutBackOutcome | undefined> => {
  const { table, now, dueAt, over } = rescheduling
  const dead = await findDead(table, address)
  if (dead === undefined) return { outcome: 'not-found' }
  const key = dead.item.key?.S
  const alias = key === undefined ? undefined : await readAlias(table, OPERATION, key)
  const holder = alias === undefined ? undefined : await findHolder(table, now, alias)
  if (holder !== undefined) return { outcome: 'key-taken', by: addressOf(holder) }
  const to = { ...addressOf(dead), dueAt, firstDueAt: dead.firstDueAt ?? dead.dueAt }
  const { row, body } = toMovedRow(dead, to)
  const { failures: _, ...fresh } = row
  rescheduling.over = undefined
  const move = {
    operation: OPERATION,
    from: dead,
    to,
    arriving: { row: fresh, body },
    isReplacement: false,
    ...(over !== undefined && { over }),
    ...(alias !== undefined && { prepare: () => takeKey(table, alias, to) }),
  } as const
  const moved = await moveRow(table, move)
  if (moved.result === 'taken') await makeWay(rescheduling, dead, moved.by)
  if (moved.result !== 'moved') return undefined
  // Only now: a dead row's body has no TTL.
  await expireBody(table, dead, dueAt)
  return { outcome: 'put-back', address: addressOf(to) }
}

/**
 * Lets a dead row wait again, as `moveRow` does: never two rows and never none.
 * @throws PostdateError `persistence.unavailable` (it may be repeated), `.access-denied`, `.misconfigured`
 */
export const putBackRow = async (
  table: Table,
  address: RowAddress,
  dueAt: number,
  now: number,
): Promise<PutBackOutcome> => {
  const rescheduling: Rescheduling = { table, now, dueAt, waits: 0, over: undefined }
  try {
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const outcome = await look(rescheduling, address)
      if (outcome !== undefined) return outcome
    }
  } catch (error) {
    throw toStoreError(table, OPERATION, error)
  }
  const reason = `others changed the row ${MOST_LOOKS} times meanwhile`
  throw new PostdateError('persistence.unavailable', { persistence: table.name, operation: OPERATION, reason })
}

/**
 * Removes a dead row and its body for good.
 * @throws PostdateError `persistence.unavailable` (it may be repeated), `.access-denied`, `.misconfigured`
 */
export const purgeRow = async (table: Table, address: RowAddress): Promise<boolean> => {
  try {
    const dead = await findDead(table, address)
    if (dead === undefined) return false
    await table.client.send(
      new DeleteItemCommand({
        TableName: table.tableName,
        Key: toKeyItem(dead.key),
        ConditionExpression: dead.item.lease === undefined ? 'attribute_not_exists(lease)' : 'lease = :seen',
        ...(dead.item.lease !== undefined && { ExpressionAttributeValues: { ':seen': dead.item.lease } }),
      }),
    )
    await deleteBody(table, dead)
    return true
  } catch (error) {
    // Another put it back, withdrew or purged it first.
    if (isRefused(error)) return false
    throw toStoreError(table, OPERATION, error)
  }
}
