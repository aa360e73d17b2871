import type { PeekedRow } from '../core/inspection.js'
import type { RowAddress } from '../core/persistence.js'
import { type Row, readDeath, readEnvelope } from './attributes.js'
import { readBodies } from './bodies.js'
import { describeRow } from './describe-row.js'
import { toStoreError } from './failures.js'
import { isDying } from './give-up-row.js'
import { locateRow } from './locate-row.js'
import type { Table } from './table.js'

const OPERATION = 'list messages'

const withoutContent = (row: Row, now: number): PeekedRow => ({
  ...describeRow(row, now),
  state: 'recalled',
  envelope: undefined,
})

/**
 * The row of an address with its content, wherever it was moved.
 * @throws PostdateError `persistence.unavailable`, `.access-denied`, `.misconfigured`
 */
export const peekRow = async (table: Table, address: RowAddress, now: number): Promise<PeekedRow | undefined> => {
  try {
    const found = await locateRow(table, OPERATION, address)
    if (found.at === 'none') return undefined
    const { row } = found
    const isWithdrawn = found.at === 'replaced' || row.lease?.state === 'r' || row.item.withdrawnAt !== undefined
    if (isWithdrawn) return withoutContent(row, now)
    const bodyOf = await readBodies(table, OPERATION, [row])
    const isDead = found.at === 'dead' || isDying(row)
    return {
      ...describeRow(row, now),
      envelope: readEnvelope(row, bodyOf(row)),
      ...(isDead && { state: 'dead', death: readDeath(row) }),
    }
  } catch (error) {
    throw toStoreError(table, OPERATION, error)
  }
}
