import { sleepUntil, systemClock } from '../lib/index.js'
import { makeRow } from './rows.js'
import type { BenchStack } from './stack.js'

/** What a dispatcher costs that has nothing to do while many rows wait for tomorrow. */
export interface Waiting {
  readonly rowsWaiting: number
  readonly overSeconds: number
  readonly requestsPerSecond: number
  readonly readUnitsPerSecond: number
  readonly writeUnitsPerSecond: number
  readonly cpuMsPerSecond: number
}

const DAY_MS = 86_400_000
const WATCHED_SECONDS = 5

/** Stores rows that are due in a day or more; `onProgress` is told how many. */
export const storeWaiting = async (
  stack: BenchStack,
  rows: number,
  onProgress: (stored: number) => void,
): Promise<void> => {
  const now = systemClock.now()
  const chunk = 2_000
  for (let from = 0; from < rows; from += chunk) {
    const count = Math.min(chunk, rows - from)
    const made = Array.from({ length: count }, (_, index) =>
      makeRow(from + index, now + DAY_MS + from + index, 120, now),
    )
    await stack.persistence.storeOutgoingMessages(made)
    onProgress(from + count)
  }
}

/** Watches a dispatcher that polls every second and finds nothing due. */
export const measureWaiting = async (stack: BenchStack, rowsWaiting: number): Promise<Waiting> => {
  const { dispatcher, meter } = stack
  const stopping = new AbortController()
  const ended = dispatcher.run({ signal: stopping.signal })
  await sleepUntil(systemClock, systemClock.now() + 1_500)
  meter.reset()
  const cpuBefore = process.cpuUsage()
  await sleepUntil(systemClock, systemClock.now() + WATCHED_SECONDS * 1_000)
  const cpu = process.cpuUsage(cpuBefore)
  const { read, written } = meter.units()
  const requests = [...meter.requests.values()].reduce((sum, count) => sum + count, 0)
  stopping.abort()
  await ended
  const perSecond = (value: number) => Number((value / WATCHED_SECONDS).toFixed(2))
  return {
    rowsWaiting,
    overSeconds: WATCHED_SECONDS,
    requestsPerSecond: perSecond(requests),
    readUnitsPerSecond: perSecond(read),
    writeUnitsPerSecond: perSecond(written),
    cpuMsPerSecond: perSecond((cpu.user + cpu.system) / 1_000),
  }
}
