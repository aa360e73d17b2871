import { reasonOf } from './errors.js'
import type { RowAddress } from './persistence.js'
import type { BusSettings } from './settings.js'
import { HINT_WITHIN_MS } from './transport.js'

/** Tells whoever dispatches of rows that have just become durable. Never fails: they are found without it, only later. */
export type Announce = (rows: readonly Pick<RowAddress, 'shard' | 'dueAt'>[]) => Promise<void>

/** Makes it. `onScheduled` is told of every row's due instant first; then hints go out for those that fall due soon. */
export const createAnnounce = (settings: BusSettings, onScheduled: (dueAt: number) => void): Announce => {
  const { clock, logger, wakeHint } = settings
  return async (rows) => {
    for (const { dueAt } of rows) onScheduled(dueAt)
    if (wakeHint === undefined) return
    const now = clock.now()
    const near = rows.filter((row) => row.dueAt - now <= HINT_WITHIN_MS)
    const sent = await Promise.allSettled(near.map(async ({ shard, dueAt }) => wakeHint({ shard, dueAt, now })))
    for (const result of sent) {
      if (result.status === 'rejected')
        logger.warn('a wake hint failed; the scheduled dispatcher finds the row', { reason: reasonOf(result.reason) })
    }
  }
}
