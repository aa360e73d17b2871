import { expect, it } from 'vitest'
import { checkSeeds } from './check-seeds.js'
import { FAULT_KINDS } from './faults.js'

// The second thousand is in a file of its own, so that two workers share the time.
it('seeds 1 to 1,000 break no promise, and each kind of fault occurs in at least 50 of them', {
  timeout: 240_000,
}, async () => {
  const { failures, occurrences, publishes } = await checkSeeds(1, 1_000)
  expect(failures.join('\n\n')).toBe('')
  expect(FAULT_KINDS.filter((kind) => (occurrences.get(kind) ?? 0) < 50)).toEqual([])
  expect(publishes).toBeGreaterThan(10_000)
})
