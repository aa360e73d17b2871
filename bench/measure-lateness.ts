import { sleepUntil, systemClock } from '../lib/index.js'
import { makeRow } from './rows.js'
import type { BenchStack } from './stack.js'

/** How late messages went out: the instant of SNS's answer minus the due instant. */
export interface Lateness {
  readonly messages: number
  readonly perSecond: number
  readonly medianMs: number
  readonly p99Ms: number
  readonly maxMs: number
  readonly early: number
}

/** Schedules messages two seconds ahead at a steady rate while a dispatcher runs. */
export const measureLateness = async (stack: BenchStack, messages: number, perSecond: number): Promise<Lateness> => {
  const lateness: number[] = []
  stack.onEvent = (event) => {
    if (event.type === 'dispatched') lateness.push(event.latenessMs)
  }
  const stopping = new AbortController()
  const ended = stack.dispatcher.run({ signal: stopping.signal })
  const stepMs = 1_000 / perSecond
  const startedAt = systemClock.now()
  for (let number = 0; number < messages; number++) {
    await sleepUntil(systemClock, startedAt + Math.round(number * stepMs))
    const now = systemClock.now()
    await stack.persistence.storeOutgoingMessages([makeRow(number, now + 2_000, 300, now)])
  }
  const giveUpAt = systemClock.now() + 10_000
  while (lateness.length < messages && systemClock.now() < giveUpAt)
    await sleepUntil(systemClock, systemClock.now() + 50)
  stopping.abort()
  await ended
  stack.onEvent = () => {}
  if (lateness.length !== messages) throw new Error(`${lateness.length} of ${messages} messages were dispatched`)
  const sorted = [...lateness].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(messages - 1, Math.ceil(messages * share) - 1)] ?? Number.NaN
  return {
    messages,
    perSecond,
    medianMs: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
    early: sorted.filter((ms) => ms < 0).length,
  }
}
