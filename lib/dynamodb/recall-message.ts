import { type AttributeValue, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { PostdateError } from '../core/errors.js'
import { formatLease, recallAnswer, withdrawn } from '../core/lease.js'
import type { RecallOutcome, RowAddress } from '../core/persistence.js'
import { correlationOf, type Row, toTombstone } from './attributes.js'
import { deleteBody } from './bodies.js'
import { isRefused, mayHaveApplied, toStoreError } from './failures.js'
import { isDying, removeDying } from './give-up-row.js'
import { deadKey, type ItemKey, toKeyItem } from './keys.js'
import { locateRow } from './locate-row.js'
import type { Table } from './table.js'

const OPERATION = 'recall a message'

/** How often a recall looks again after another came first. Each time, somebody else's write went through. */
const MOST_LOOKS = 20

/** How long a withdrawn dead row stays, to stand in the way of a pass that is still busy with it. */
const WITHDRAWN_DAYS = 7
const DAY_SECONDS = 24 * 60 * 60

/** A recall under way. */
interface Recall {
  readonly table: Table
  readonly address: RowAddress
  readonly now: number
  /** The register that this recall writes: found in an item, it proves that the answer is mine to give. */
  readonly lease: string
  /** What to answer when it is found. */
  answer: RecallOutcome
}

/** A conditional write; `false` if its condition was false. */
const attempt = async (write: () => Promise<unknown>): Promise<boolean> => {
  try {
    await write()
    return true
  } catch (error) {
    if (isRefused(error)) return false
    throw error
  }
}

/** Swaps a waiting row's register for a withdrawn one and takes its content away. `item.lease` may be anything at all. */
const withdrawRow = ({ table, lease }: Recall, row: Row): Promise<boolean> => {
  const { key, item } = row
  return attempt(() =>
    table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: toKeyItem(key),
        // What operators find a message by stays with what is left of it.
        UpdateExpression: 'SET lease = :next, correlationId = :correlationId REMOVE envelope, bodyRef',
        ConditionExpression:
          item.lease === undefined ? 'attribute_exists(pk) AND attribute_not_exists(lease)' : 'lease = :seen',
        ExpressionAttributeValues: {
          ':next': { S: lease },
          ':correlationId': { S: correlationOf(row) },
          ...(item.lease !== undefined && { ':seen': item.lease }),
        },
      }),
    ),
  )
}

/**
 * Withdraws a dead row, or the place where a dying one is about to be written: whoever is busy with its death finds the
 * withdrawal there and writes nothing over it.
 */
const withdrawDead = ({ table, now, lease }: Recall, key: ItemKey, row: Row, mustExist: boolean): Promise<boolean> => {
  const death: AttributeValue = row.item.lease ?? { S: '' }
  const isSame =
    row.item.lease === undefined ? 'attribute_exists(pk) AND attribute_not_exists(lease)' : 'lease = :death'
  return attempt(() =>
    table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: toKeyItem(key),
        UpdateExpression:
          'SET lease = :next, withdrawnAt = :now, withdrew = :death, expiresAt = :expiresAt REMOVE envelope, bodyRef',
        ConditionExpression: mustExist ? isSame : 'attribute_not_exists(withdrawnAt) OR withdrew <> :death',
        ExpressionAttributeValues: {
          ':death': death,
          ':next': { S: lease },
          ':now': { N: String(now) },
          ':expiresAt': { N: String(Math.ceil(now / 1000) + WITHDRAWN_DAYS * DAY_SECONDS) },
        },
      }),
    ),
  )
}

/** The answer, or `undefined` when another came first and the recall has to look again. */
type Look = Promise<RecallOutcome | undefined>

const recallDying = async (recall: Recall, row: Row): Look => {
  const { table, now } = recall
  recall.answer = row.lease === undefined ? 'recalled' : recallAnswer(row.lease, now)
  const won = await withdrawDead(recall, deadKey(row), row, false)
  await removeDying(table, row)
  await deleteBody(table, row)
  // Lost: an earlier recall had withdrawn it, or an earlier attempt of mine; the next look tells.
  return won ? recall.answer : undefined
}

const recallWaiting = async (recall: Recall, row: Row): Look => {
  const { table, now } = recall
  // Of a row whose register can't be read, nobody knows whether it was published.
  const answer = row.lease === undefined ? 'possibly-delivered' : recallAnswer(row.lease, now)
  if (answer === 'too-late' || answer === 'already-recalled') return answer
  recall.answer = answer
  if (!(await withdrawRow(recall, row))) return undefined
  await deleteBody(table, row)
  return answer
}

const recallDead = async (recall: Recall, dead: Row): Look => {
  if (dead.item.withdrawnAt !== undefined) return 'already-recalled'
  const answer = dead.lease === undefined ? 'possibly-delivered' : recallAnswer(dead.lease, recall.now)
  recall.answer = answer === 'possibly-delivered' ? answer : 'recalled'
  if (!(await withdrawDead(recall, dead.key, dead, true))) return undefined
  await deleteBody(recall.table, dead)
  return recall.answer
}

/** Leaves a tombstone where no row is, so that a store still in flight can't arrive after the answer. */
const leaveTombstone = async (recall: Recall): Look => {
  const { table, address, lease } = recall
  recall.answer = 'not-found'
  const left = await attempt(() =>
    table.client.send(
      new PutItemCommand({
        TableName: table.tableName,
        Item: toTombstone(address, lease),
        ConditionExpression: 'attribute_not_exists(pk)',
      }),
    ),
  )
  return left ? 'not-found' : undefined
}

const look = async (recall: Recall): Look => {
  const { table, address, now, lease } = recall
  const found = await locateRow(table, OPERATION, address)
  if (found.at === 'replaced') return 'already-recalled'
  if (found.at === 'none') return now < address.dueAt && !found.wasMoved ? leaveTombstone(recall) : 'too-late'
  const { row } = found
  if (row.item.lease?.S === lease) return recall.answer
  if (found.at === 'dead') return recallDead(recall, row)
  return isDying(row) ? recallDying(recall, row) : recallWaiting(recall, row)
}

/**
 * Withdraws a row before it is dispatched. It compares and swaps the register that a claim swaps too, so exactly one wins;
 * whoever loses looks again.
 * @throws PostdateError `persistence.unavailable`, `.access-denied`, `.misconfigured`; a recall may be repeated.
 */
export const recallMessage = async (table: Table, address: RowAddress, now: number): Promise<RecallOutcome> => {
  const lease = formatLease(withdrawn(now, table.newToken()))
  const recall: Recall = { table, address, now, lease, answer: 'not-found' }
  let lostAnswers = 0
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    try {
      const outcome = await look(recall)
      if (outcome !== undefined) return outcome
    } catch (error) {
      // A lost answer may be to a write that was made: look once more, where my own register tells.
      if (!mayHaveApplied(error) || ++lostAnswers === 2) throw toStoreError(table, OPERATION, error)
    }
  }
  throw new PostdateError('persistence.unavailable', {
    persistence: table.name,
    operation: OPERATION,
    reason: `others changed the row ${MOST_LOOKS} times while the recall looked`,
  })
}
