import { type Clock, systemClock } from '../core/clock.js'
import type { Inbox } from '../core/redelivery/inbox.js'
import { type Duration, durationMs } from '../core/schedule.js'

/** Options of the inbox in memory. */
export interface MemoryInboxOptions {
  /** How long a handled message is remembered. @default 1 day */
  readonly retention?: Duration
  /** @default the machine's */
  readonly clock?: Clock
}

interface Entry {
  /** `undefined` while its work runs. */
  result: string | undefined
  /** Epoch milliseconds. Of work that runs: when it is taken for given up. */
  forgetAt: number
}

const DAY_MS = 86_400_000
/** Work of which it is not known how long it may take. */
const IN_PROGRESS_MS = 300_000
/** Looking for what may be forgotten takes as long as there are entries, so not at every message. */
const ENTRIES_BETWEEN_SWEEPS = 1_000

/**
 * Remembers in the memory of this process what was handled: for development and tests. It forgets everything when the process
 * ends.
 * @throws PostdateError `schedule.invalid-duration`
 * @example
 * const receiver = defineReceiver('billing', handlers, { inbox: memoryInbox() })
 */
export const memoryInbox = (options: MemoryInboxOptions = {}): Inbox => {
  const { clock = systemClock } = options
  const retentionMs = durationMs('retention', options.retention ?? DAY_MS)
  const entries = new Map<string, Entry>()
  let added = 0

  const forgetOld = (now: number): void => {
    added = (added + 1) % ENTRIES_BETWEEN_SWEEPS
    if (added > 0) return
    for (const [key, { forgetAt }] of entries) if (forgetAt <= now) entries.delete(key)
  }

  return {
    name: 'memory',
    retentionMs,
    once: async (key, work, runningForMs = IN_PROGRESS_MS) => {
      const now = clock.now()
      const found = entries.get(key)
      if (found !== undefined && found.forgetAt > now)
        return found.result === undefined ? { state: 'in-progress' } : { state: 'remembered', result: found.result }
      forgetOld(now)
      const entry: Entry = { result: undefined, forgetAt: now + runningForMs }
      entries.set(key, entry)
      try {
        const result = await work()
        entry.result = result
        entry.forgetAt = clock.now() + retentionMs
        return { state: 'ran', result }
      } catch (error) {
        // Work that took too long may have been given up, and begun anew by another.
        if (entries.get(key) === entry) entries.delete(key)
        throw error
      }
    },
  }
}
