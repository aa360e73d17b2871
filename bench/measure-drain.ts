import { systemClock } from '../lib/index.js'
import { makeRow } from './rows.js'
import type { BenchStack } from './stack.js'

/** What dispatching costs, a message. */
export interface Drain {
  readonly messages: number
  readonly bodyBytes: number
  readonly messagesPerSecond: number
  /** User and system time of the dispatching process, in microseconds a message. */
  readonly cpuUsPerMessage: number
  readonly requestsPerMessage: number
  readonly requests: Readonly<Record<string, number>>
  /** Capacity units a message, storing included. */
  readonly writtenPerMessage: number
  readonly readPerMessage: number
}

const round = (value: number, digits = 3) => Number(value.toFixed(digits))

/** Stores rows that are all due at one instant, then drains them with one dispatcher. */
export const measureDrain = async (stack: BenchStack, messages: number, bodyBytes: number): Promise<Drain> => {
  const { dispatcher, persistence, meter } = stack
  const now = systemClock.now()
  meter.reset()
  for (let from = 0; from < messages; from += 500) {
    const count = Math.min(500, messages - from)
    const rows = Array.from({ length: count }, (_, index) => makeRow(from + index, now, bodyBytes, now))
    const outcomes = await persistence.storeOutgoingMessages(rows)
    const failed = outcomes.filter(({ outcome }) => outcome !== 'stored')
    if (failed.length > 0) throw new Error(`${failed.length} rows were not stored: ${JSON.stringify(failed[0])}`)
  }
  const stored = meter.units()
  meter.reset()
  let settled = 0
  stack.onEvent = ({ type }) => {
    if (type === 'settled') settled++
  }
  const startedAt = systemClock.now()
  const cpuBefore = process.cpuUsage()
  await dispatcher.run({ signal: new AbortController().signal, leaveWhenIdleMs: 0 })
  const cpu = process.cpuUsage(cpuBefore)
  const tookMs = systemClock.now() - startedAt
  stack.onEvent = () => {}
  if (settled !== messages) throw new Error(`${settled} of ${messages} messages were dispatched and settled`)
  const drained = meter.units()
  const requestCount = [...meter.requests.values()].reduce((sum, count) => sum + count, 0)
  return {
    messages,
    bodyBytes,
    messagesPerSecond: Math.round((messages / tookMs) * 1_000),
    cpuUsPerMessage: round((cpu.user + cpu.system) / messages, 1),
    requestsPerMessage: round(requestCount / messages),
    requests: Object.fromEntries(meter.requests),
    writtenPerMessage: round((stored.written + drained.written) / messages),
    readPerMessage: round(drained.read / messages),
  }
}
