import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { formatLease, parseLease, released } from '../core/lease.js'
import type { Release, SettleOutcome } from '../core/persistence.js'
import { isRefused, mayHaveApplied, toStoreError, wasRepeated } from './failures.js'
import { giveUpRow } from './give-up-row.js'
import { dueKey, keyText, toKeyItem } from './keys.js'
import { readItems } from './read-items.js'
import { runBounded } from './run-bounded.js'
import type { Table } from './table.js'
import { type FinalResult, writeItems } from './write-items.js'

const OPERATION = 'release messages'
const MOST_REQUESTS = 16

/** A claim to give back, and the register that does it. */
interface GivingBack {
  readonly index: number
  readonly release: Release
  readonly next: string
}

/** A count of failures that changes too takes a request of its own: a statement sets one attribute only. */
const countFailures = async (table: Table, { release, next }: GivingBack): Promise<FinalResult> => {
  const { claim, failures = claim.failures } = release
  try {
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: toKeyItem(dueKey(claim)),
        UpdateExpression: 'SET lease = :next, failures = :failures',
        ConditionExpression: 'lease = :seen',
        ExpressionAttributeValues: {
          ':next': { S: next },
          ':seen': { S: claim.lease },
          ':failures': { N: String(failures) },
        },
      }),
    )
    return { result: 'done' }
  } catch (error) {
    if (isRefused(error)) return { result: 'refused', mayBeMine: wasRepeated(error) }
    const applied = mayHaveApplied(error) ? 'unknown' : 'no'
    return { result: 'failed', applied, error: toStoreError(table, OPERATION, error) }
  }
}

const swapRegisters = (table: Table, batch: readonly GivingBack[]): Promise<readonly FinalResult[]> =>
  writeItems(
    table,
    OPERATION,
    batch.map(({ release, next }) => ({ write: 'swap', key: dueKey(release.claim), seen: release.claim.lease, next })),
  )

const judge = ({ release, next }: GivingBack, result: FinalResult, lease: string | undefined): SettleOutcome => {
  if (lease === next) return { outcome: 'settled' }
  if (lease === undefined) return { outcome: 'gone' }
  if (lease === release.claim.lease && result.result === 'failed') return { outcome: 'failed', error: result.error }
  return { outcome: 'lease-lost' }
}

const giveBack = async (
  table: Table,
  batch: readonly GivingBack[],
  outcomes: SettleOutcome[],
  write: (table: Table, batch: readonly GivingBack[]) => Promise<readonly FinalResult[]>,
): Promise<void> => {
  if (batch.length === 0) return
  const results = await write(table, batch)
  const doubtful: [GivingBack, FinalResult][] = []
  for (const [position, giving] of batch.entries()) {
    const result = results[position]
    if (result === undefined) continue
    if (result.result === 'done') outcomes[giving.index] = { outcome: 'settled' }
    else if (result.result === 'failed' && result.applied === 'no')
      outcomes[giving.index] = { outcome: 'failed', error: result.error }
    else doubtful.push([giving, result])
  }
  if (doubtful.length === 0) return
  try {
    const items = await readItems(
      table,
      OPERATION,
      doubtful.map(([{ release }]) => dueKey(release.claim)),
    )
    for (const [giving, result] of doubtful) {
      const item = items.get(keyText(dueKey(giving.release.claim)))
      outcomes[giving.index] = judge(giving, result, item === undefined ? undefined : (item.lease?.S ?? ''))
    }
  } catch (error) {
    const typed = toStoreError(table, OPERATION, error)
    for (const [{ index }] of doubtful) outcomes[index] ??= { outcome: 'failed', error: typed }
  }
}

/**
 * Gives claims back, or their rows up, each only if its register is still the claim's. One outcome per release, in order;
 * never throws.
 */
export const releaseClaims = async (table: Table, releases: readonly Release[]): Promise<readonly SettleOutcome[]> => {
  const outcomes: SettleOutcome[] = new Array(releases.length)
  const plain: GivingBack[] = []
  const counting: GivingBack[] = []
  const dying: [number, Release, NonNullable<Release['dead']>][] = []
  for (const [index, release] of releases.entries()) {
    const { claim, published, notBefore, failures = claim.failures, dead } = release
    const held = parseLease(claim.lease)
    if (dead !== undefined) dying.push([index, release, dead])
    else if (held === undefined) outcomes[index] = { outcome: 'lease-lost' }
    else {
      const next = formatLease(released(held, published, notBefore, table.newToken()))
      const group = failures === claim.failures ? plain : counting
      group.push({ index, release, next })
    }
  }
  await Promise.all([
    giveBack(table, plain, outcomes, swapRegisters),
    giveBack(table, counting, outcomes, (_, batch) =>
      runBounded(batch, MOST_REQUESTS, (giving) => countFailures(table, giving)),
    ),
    runBounded(dying, MOST_REQUESTS, async ([index, release, dead]) => {
      outcomes[index] = await giveUpRow(table, release, dead)
    }),
  ])
  return outcomes
}
