import type { Claim, SettleOutcome } from '../core/persistence.js'
import { toStoreError } from './failures.js'
import { dueKey, keyText } from './keys.js'
import { readItems } from './read-items.js'
import type { Table } from './table.js'
import { type FinalResult, type Write, writeItems } from './write-items.js'

const OPERATION = 'settle messages'

const judge = (claim: Claim, result: FinalResult, lease: string | undefined): SettleOutcome => {
  const mayBeMine = result.result === 'failed' || (result.result === 'refused' && result.mayBeMine)
  // Gone, and an earlier attempt of mine may have done it: nobody else removes a row that I hold.
  if (lease === undefined) return { outcome: mayBeMine ? 'settled' : 'gone' }
  if (lease !== claim.lease) return { outcome: 'lease-lost' }
  if (result.result === 'failed') return { outcome: 'failed', error: result.error }
  return { outcome: 'lease-lost' }
}

/** Removes published rows, each only if its register is still the claim's. One outcome per claim, in order; never throws. */
export const settleClaims = async (table: Table, claims: readonly Claim[]): Promise<readonly SettleOutcome[]> => {
  const writes = claims.map((claim): Write => ({ write: 'delete', key: dueKey(claim), seen: claim.lease }))
  const results = await writeItems(table, OPERATION, writes)
  const outcomes: SettleOutcome[] = new Array(claims.length)
  const doubtful: number[] = []
  for (const [index, result] of results.entries()) {
    if (result.result === 'done') outcomes[index] = { outcome: 'settled' }
    else if (result.result === 'failed' && result.applied === 'no')
      outcomes[index] = { outcome: 'failed', error: result.error }
    else doubtful.push(index)
  }
  if (doubtful.length === 0) return outcomes
  try {
    const items = await readItems(
      table,
      OPERATION,
      doubtful.flatMap((index) => writes[index]?.key ?? []),
    )
    for (const index of doubtful) {
      const [claim, result] = [claims[index], results[index]]
      if (claim === undefined || result === undefined) continue
      const item = items.get(keyText(dueKey(claim)))
      outcomes[index] = judge(claim, result, item === undefined ? undefined : (item.lease?.S ?? ''))
    }
  } catch (error) {
    const typed = toStoreError(table, OPERATION, error)
    for (const index of doubtful) outcomes[index] ??= { outcome: 'failed', error: typed }
  }
  return outcomes
}
