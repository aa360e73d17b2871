import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shardOf } from '../../lib/core/ids.js'
import { bodyOfBytes, DUE_AT, sampleMessage } from '../../lib/testing/contract/message-samples.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { meterClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

/** Stores, claims and settles so many messages, and answers the units that each took. */
const drain = async (emulator: TestDynamoDb, count: number, body: string) => {
  const { persistence, subject, client } = await openPersistence(emulator)
  const consumption = meterClient(client)
  for (let from = 0; from < count; from += 250) {
    const batch = Array.from({ length: Math.min(250, count - from) }, (_, index) => {
      const id = `message-${from + index}`
      return sampleMessage({ id, shard: shardOf(id, 8), dueAt: DUE_AT + from + index, body })
    })
    await subject.storeNew(...batch)
  }
  const seen = new Set<string>()
  const now = DUE_AT + count
  for (;;) {
    const look = await persistence.claimDueOutgoingMessages({
      now,
      dueBefore: now + 1_000,
      limit: 200,
      leaseMs: 30_000,
    })
    for (const { rowId } of look.claims) seen.add(rowId)
    const settled = await persistence.deleteOutgoingMessages(look.claims)
    expect(settled.every(({ outcome }) => outcome === 'settled')).toBe(true)
    if (!look.more) break
  }
  expect(seen.size).toBe(count)
  return { written: consumption.written / count, read: consumption.read / count }
}

describe.skipIf(whyNoDynoxide() !== undefined)('capacity', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb('dynoxide')
  })
  afterAll(() => emulator.stop())

  test('10,000 rows of nearly a write unit take 3.0 units written and at most 1.2 read each', async () => {
    const { written, read } = await drain(emulator, 10_000, bodyOfBytes(740))
    expect(written).toBe(3)
    expect(read).toBeLessThanOrEqual(1.2)
    console.log(`each thin row: ${written} written, ${read} read`)
  }, 120_000)

  test('messages of 10 KB take at most 14 units written and 4.5 read each', async () => {
    const { written, read } = await drain(emulator, 2_000, bodyOfBytes(10_240))
    expect(written).toBeLessThanOrEqual(14)
    expect(read).toBeLessThanOrEqual(4.5)
    console.log(`each row of 10 KB: ${written} written, ${read} read`)
  }, 120_000)

  test('a look at shards without a row costs one read unit each', async () => {
    const { persistence, client } = await openPersistence(emulator)
    await persistence.coordination.readShards()
    const consumption = meterClient(client)
    await persistence.claimDueOutgoingMessages({ now: DUE_AT, dueBefore: DUE_AT, limit: 200, leaseMs: 30_000 })
    expect(consumption).toEqual({ read: 8, written: 0 })
  })
})
