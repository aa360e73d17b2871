import { DeleteItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../lib/dynamodb/table.js'
import { keyed, storeKeyed, storeNewKeyed } from '../../lib/testing/contract/keying.js'
import { bodyOfBytes, DUE_AT, sampleMessage } from '../../lib/testing/contract/message-samples.js'
import { giveBack } from '../../lib/testing/contract/subject.js'
import { readAll, startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { openPersistence } from './open-persistence.js'

const DAY_MS = 86_400_000
const BEFORE = DUE_AT - DAY_MS
const isHere = whyNoDynoxide() === undefined

/** What DynamoDB does by TTL, on these emulators that don't: removes what has expired by an instant. Answers the keys. */
const reap = async (client: DynamoDBClient, tableName: string, now: number): Promise<string[]> => {
  const expired = (await readAll(client, tableName)).filter(({ expiresAt }) => Number(expiresAt?.N) * 1000 < now)
  for (const { pk, sk } of expired)
    await client.send(new DeleteItemCommand({ TableName: tableName, Key: { pk, sk } as Item }))
  return expired.map(({ pk }) => pk?.S ?? '')
}

describe('what leaves by TTL', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(isHere ? 'dynoxide' : 'dynalite')
  })
  afterAll(() => emulator.stop())

  const begin = async () => {
    const open = await openPersistence(emulator, { batching: isHere ? 'partiql' : 'single' })
    /** A pass and the reaper, every ten days up to an instant. */
    const liveUntil = async (to: number) => {
      for (let now = BEFORE; now < to; now += 10 * DAY_MS) {
        await open.subject.claim(now)
        await reap(open.client, open.tableName, now)
      }
      await reap(open.client, open.tableName, to)
    }
    return { ...open, liveUntil }
  }

  test('is not the body of a message of 10 KB that was moved by 400 days', async () => {
    const { subject, liveUntil, items, client, tableName } = await begin()
    const message = sampleMessage({ id: 'one', body: bodyOfBytes(10_240) })
    await subject.storeNew(message)
    const to = DUE_AT + 400 * DAY_MS
    await subject.reschedule(message, to, BEFORE)
    await liveUntil(to)
    expect((await subject.claimOne(to)).envelope).toEqual(message.envelope)
    // In the end nothing stays: the body and the note of where it was leave 90 days later.
    await subject.settle(await subject.claimOne(to + DAY_MS))
    expect(await items()).not.toEqual([])
    await reap(client, tableName, to + 91 * DAY_MS)
    expect(await items()).toEqual([])
  })

  test('is not what leads from an old handle to a message that was moved again and again', async () => {
    const { subject, liveUntil, client, tableName } = await begin()
    const messages = ['one', 'two'].map((id) => sampleMessage({ id, body: bodyOfBytes(id === 'one' ? 500 : 5_000) }))
    await subject.storeNew(...messages)
    let to = DUE_AT
    for (let times = 0; times < 4; times++) {
      to += 100 * DAY_MS
      for (const message of messages) await subject.reschedule(message, to, to - 150 * DAY_MS)
      await liveUntil(to - 20 * DAY_MS)
    }
    for (const message of messages) expect(await subject.recall(message, to - DAY_MS)).toBe('recalled')
    await subject.claim(to + DAY_MS)
    await reap(client, tableName, to + 91 * DAY_MS)
    expect(await readAll(client, tableName)).toEqual([])
  })

  test('is not the alias of a key whose message waits, however often that was moved', async () => {
    const { subject, liveUntil } = await begin()
    const one = keyed('one')
    await storeNewKeyed(subject, one)
    const to = DUE_AT + 400 * DAY_MS
    await subject.reschedule(one, to, BEFORE)
    await liveUntil(to - DAY_MS)
    expect((await storeKeyed(subject, keyed('two', { dueAt: to }), 'keep', to - DAY_MS)).outcome).toBe('kept')
    await storeNewKeyed(subject, keyed('three', { dueAt: to + 400 * DAY_MS }), 'replace', to - DAY_MS)
    await liveUntil(to + 399 * DAY_MS)
    expect((await storeKeyed(subject, keyed('four', { dueAt: to }), 'keep', to + 399 * DAY_MS)).outcome).toBe('kept')
  })

  test('is neither a dead message, nor what was put back for a year later', async () => {
    const { subject, liveUntil, persistence } = await begin()
    const message = sampleMessage({ id: 'one', body: bodyOfBytes(10_240) })
    await subject.storeNew(message)
    const dead = { reason: 'refused', diedAt: DUE_AT }
    await subject.release(giveBack(await subject.claimOne(DUE_AT), DUE_AT, { dead }))
    const later = DUE_AT + 700 * DAY_MS
    await liveUntil(later)
    const to = later + 365 * DAY_MS
    expect((await persistence.inspection.putBack(message, to, later)).outcome).toBe('put-back')
    await liveUntil(to)
    expect((await subject.claimOne(to)).envelope).toEqual(message.envelope)
  })
})
