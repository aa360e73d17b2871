import { describe, expect, it } from 'vitest'
import type { DelayingPersistence, RecallOutcome } from '../../../lib/core/persistence.js'
import { POINTS } from './points.js'
import { simulateRecall } from './simulate-recall.js'

const SEEDS = 20_000
const ALLOWED = /^(recalled, no|already-recalled, .*|too-late, .*|possibly-delivered, .*|not-found, no)$/

it(`in ${SEEDS} seeds with a recall at every await, each answer is true of what was published`, {
  timeout: 240_000,
}, async () => {
  const failures: string[] = []
  const pairs = new Map<string, number>()
  const struck = new Map<string, number>()
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1)
  for (let seed = 1; seed <= SEEDS && failures.length < 3; seed++) {
    const result = await simulateRecall(seed)
    if (result.violations.length > 0) failures.push(`seed ${seed}: ${result.violations.join('; ')}`)
    for (const [answer, end] of result.answers) count(pairs, `${answer}, ${end}`)
    for (const point of result.struck) count(struck, point)
  }
  expect(failures.join('\n')).toBe('')
  expect([...pairs.keys()].filter((pair) => !ALLOWED.test(pair))).toEqual([])
  // Each answer was given often, with each end that it may have, and at every await of every call.
  for (const pair of ['recalled, no', 'too-late, published', 'too-late, dead', 'not-found, no'])
    expect([pair, (pairs.get(pair) ?? 0) > 50]).toEqual([pair, true])
  for (const end of ['published', 'no']) expect(pairs.get(`possibly-delivered, ${end}`)).toBeGreaterThan(50)
  expect(POINTS.filter((point) => (struck.get(point) ?? 0) < 50)).toEqual([])
})

/** Stores whose recall lies, or does what it does not say. */
const SABOTAGES: readonly {
  readonly what: string
  readonly recall: (
    store: DelayingPersistence,
    ...asked: Parameters<DelayingPersistence['recallOutgoingMessage']>
  ) => Promise<RecallOutcome>
}[] = [
  { what: 'says recalled of what is being delivered', recall: lie('too-late', 'recalled') },
  { what: 'says too-late of what it has withdrawn', recall: lie('recalled', 'too-late') },
  { what: 'says recalled where a publish was unsure', recall: lie('possibly-delivered', 'recalled') },
  { what: 'says possibly-delivered where none was', recall: lie('recalled', 'possibly-delivered') },
  { what: 'withdraws nothing', recall: async () => 'recalled' },
  {
    what: 'leaves no tombstone',
    recall: async (store, address, now) => {
      const { due } = await store.measureBacklog(Number.MAX_SAFE_INTEGER)
      return due === 0 && now < address.dueAt ? 'not-found' : store.recallOutgoingMessage(address, now)
    },
  },
]

function lie(truth: RecallOutcome, told: RecallOutcome) {
  return async (store: DelayingPersistence, ...asked: Parameters<DelayingPersistence['recallOutgoingMessage']>) => {
    const answer = await store.recallOutgoingMessage(...asked)
    return answer === truth ? told : answer
  }
}

describe('the simulation of recalls finds out, within 2,000 seeds, a store that', () => {
  it.each(SABOTAGES)('$what', { timeout: 60_000 }, async ({ recall }) => {
    const sabotage = (store: DelayingPersistence): DelayingPersistence => ({
      ...store,
      recallOutgoingMessage: (...asked) => recall(store, ...asked),
    })
    for (let seed = 1; seed <= 2_000; seed++) if ((await simulateRecall(seed, sabotage)).violations.length > 0) return
    expect.unreachable('it was not found out')
  })
})
