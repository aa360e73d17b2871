import { describe, expect, test } from 'vitest'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { type PersistenceUnderTest, scheduledMessageTests } from '../../lib/testing/scheduled-message-tests.js'
import { claimingFaults } from './faults/claiming-faults.js'
import { countingFaults } from './faults/counting-faults.js'
import { inspectionFaults } from './faults/inspection-faults.js'
import { keyFaults } from './faults/key-faults.js'
import { recallingFaults } from './faults/recalling-faults.js'
import { reschedulingFaults } from './faults/rescheduling-faults.js'
import { settlingFaults } from './faults/settling-faults.js'
import { storingFaults } from './faults/storing-faults.js'

/** Faults that the contract has to find, each in a persistence that is sound otherwise. */
const faultyPersistences = [
  ...claimingFaults,
  ...storingFaults,
  ...settlingFaults,
  ...recallingFaults,
  ...countingFaults,
  ...reschedulingFaults,
  ...keyFaults,
  ...inspectionFaults,
]

/** What fails on a persistence: the promise, and what the error says. */
const failuresOf = async (createPersistence: () => PersistenceUnderTest) => {
  const failures: { title: string; message: string }[] = []
  for (const { topic, name, run } of scheduledMessageTests(async () => createPersistence())) {
    await run().catch((error: unknown) => failures.push({ title: `${topic}: ${name}`, message: String(error) }))
  }
  return failures
}

describe('the contract tests', () => {
  test('find nothing wrong with the persistence in memory', async () => {
    expect(await failuresOf(memoryPersistence)).toEqual([])
  })

  test.each(faultyPersistences)('find a persistence that $fault', async ({ make }) => {
    const titles = (await failuresOf(make)).map(({ title }) => title)
    // The histories compare with a model and would find almost anything; a promise of its own has to find it too.
    expect(titles.filter((title) => !title.startsWith('histories'))).not.toEqual([])
  })

  test('print what was expected and what was found', async () => {
    const failures = await failuresOf(() => ({ ...memoryPersistence(), recallOutgoingMessage: async () => 'recalled' }))
    const failure = failures.find(({ title }) => title.includes('an unknown address is too-late'))
    expect(failure?.message).toBe('Error: the answer\nexpected: "too-late"\nfound: "recalled"')
  })

  test('ask for parts that a persistence lacks, unless told that it lacks them', async () => {
    const make = async () => {
      const {
        coordination: _,
        inspection: __,
        rescheduleOutgoingMessage: ___,
        keys: ____,
        ...rest
      } = memoryPersistence()
      return rest
    }
    const failed = async (tests: ReturnType<typeof scheduledMessageTests>) => {
      const results = await Promise.allSettled(tests.map(({ run }) => run()))
      return results.filter(({ status }) => status === 'rejected').length
    }
    expect(await failed(scheduledMessageTests(make))).toBeGreaterThan(10)
    expect(
      await failed(
        scheduledMessageTests(make, { without: ['coordination', 'inspection', 'reschedule', 'keys', 'pause'] }),
      ),
    ).toBe(0)
  })
})
