import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BEFORE, keyed, LATER, storeKeyed, storeNewKeyed } from '../../lib/testing/contract/keying.js'
import { bodyOfBytes, DUE_AT, sampleMessage } from '../../lib/testing/contract/message-samples.js'
import type { Subject } from '../../lib/testing/contract/subject.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { meterClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

const TEN_KB = bodyOfBytes(10_240)

// docs/guides/recalling.md tells these numbers.
describe.skipIf(whyNoDynoxide() !== undefined)('what taking back and moving costs, in units', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb('dynoxide')
  })
  afterAll(() => emulator.stop())

  /** The units of one operation, after what has to be there before it. */
  const unitsOf = async (
    operation: (subject: Subject) => Promise<unknown>,
    before: (subject: Subject) => Promise<unknown> = async () => {},
  ) => {
    const { subject, client } = await openPersistence(emulator)
    await before(subject)
    const consumption = meterClient(client)
    await operation(subject)
    return { ...consumption }
  }

  const message = sampleMessage({ id: 'one', body: bodyOfBytes(600) })
  const large = sampleMessage({ id: 'one', body: TEN_KB })
  const store = (one: typeof message) => (subject: Subject) => subject.storeNew(one)

  test('a recall: 1 written, 1 read; of a message whose body is apart, the body besides', async () => {
    const recall = (subject: Subject) => subject.recall(message, BEFORE)
    expect(await unitsOf(recall, store(message))).toEqual({ written: 1, read: 1 })
    expect(await unitsOf(recall, store(large))).toEqual({ written: 1 + 11, read: 1 })
  })

  test('a recall of what is not there: 1 written for the tombstone, 3 read', async () => {
    expect(await unitsOf((subject) => subject.recall(message, BEFORE))).toEqual({ written: 1, read: 3 })
  })

  test('a reschedule: 5 written, 2 read; to later also the body of a message that has one apart', async () => {
    const to = (dueAt: number) => (subject: Subject) => subject.reschedule(message, dueAt, BEFORE)
    expect(await unitsOf(to(LATER), store(message))).toEqual({ written: 5, read: 2 })
    expect(await unitsOf(to(DUE_AT - 1_000), store(message))).toEqual({ written: 5, read: 2 })
    expect(await unitsOf(to(LATER), store(large))).toEqual({ written: 5 + 11, read: 2 })
    expect(await unitsOf(to(DUE_AT - 1_000), store(large))).toEqual({ written: 5, read: 2 })
  })

  test('what is left of a recalled and of a moved row: 1 written each, when it is removed', async () => {
    const pass = (subject: Subject) => subject.claim(DUE_AT + 60_000)
    const recalled = async (subject: Subject) => {
      await subject.storeNew(message)
      await subject.recall(message, BEFORE)
    }
    const moved = async (subject: Subject) => {
      await subject.storeNew(message)
      await subject.reschedule(message, LATER, BEFORE)
    }
    expect((await unitsOf(pass, recalled)).written).toBe(1)
    expect((await unitsOf(pass, moved)).written).toBe(1)
  })

  test('a send without a key: 1 written, as ever', async () => {
    expect(await unitsOf(store(message))).toEqual({ written: 1, read: 0 })
  })

  test('a send with a key: 3 written and 1 read under a free one; 5 written and 3 read where it replaces', async () => {
    const [one, two] = [keyed('one'), keyed('two')]
    const send =
      (choice: 'keep' | 'replace') =>
      async (subject: Subject): Promise<void> =>
        void (await storeKeyed(subject, two, choice))
    const first = (subject: Subject) => storeNewKeyed(subject, one)
    expect(await unitsOf(send('keep'))).toEqual({ written: 3, read: 1 })
    expect(await unitsOf(send('replace'))).toEqual({ written: 3, read: 1 })
    expect(await unitsOf(send('keep'), first)).toEqual({ written: 0, read: 2 })
    expect(await unitsOf(send('replace'), first)).toEqual({ written: 5, read: 3 })
  })
})
