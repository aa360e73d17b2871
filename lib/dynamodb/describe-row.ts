import { describeLease } from '../core/describe-lease.js'
import type { ListedRow } from '../core/inspection.js'
import { correlationOf, type Row } from './attributes.js'
import { addressOf } from './keys.js'

/** What operators see of a row. */
export const describeRow = (row: Row, now: number): ListedRow => {
  const { item, target, attempt, failures, bytes } = row
  const key = item.key?.S
  return {
    ...addressOf(row),
    ...describeLease(row.lease, row.dueAt, now),
    kind: item.kind?.S === 'event' ? 'event' : 'command',
    name: item.name?.S ?? '',
    correlationId: correlationOf(row),
    ...(key !== undefined && { key }),
    ...(target !== undefined && { target }),
    attempt,
    failures,
    bytes,
  }
}
