import { describeLease } from '../core/describe-lease.js'
import type { ListedRow } from '../core/inspection.js'
import { addressOf, type Row } from './rows.js'

/** What operators see of a row. */
export const describeRow = (row: Row, now: number): ListedRow => {
  const { about, message } = row
  const { key } = about ?? {}
  return {
    ...addressOf(row),
    ...describeLease(row.lease, row.dueAt, now),
    kind: about?.kind ?? 'command',
    name: about?.name ?? '',
    correlationId: about?.correlationId ?? row.rowId,
    ...(key !== undefined && { key }),
    ...(message?.target !== undefined && { target: message.target }),
    attempt: message?.attempt ?? 1,
    failures: row.failures,
    bytes: message?.bytes ?? 0,
  }
}
