import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOperator } from '../../lib/core/operator.js'
import { DUE_AT, sampleMessages } from '../../lib/testing/contract/message-samples.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { meterClient, sdkError, watchClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

const LEASED = 3

describe.skipIf(whyNoDynoxide() !== undefined)('a bulk recall of 1,000 messages', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb('dynoxide')
  })
  afterAll(() => emulator.stop())

  const begin = async () => {
    const open = await openPersistence(emulator)
    // Three are due a moment earlier than the others, and a dispatcher holds them.
    const messages = sampleMessages(1_000, 'row', (index) => ({
      shard: index % 8,
      dueAt: index < LEASED ? DUE_AT : DUE_AT + 60_000 + (index % 90),
      envelope: { name: 'payments/remind' },
    }))
    const others = sampleMessages(20, 'other', (index) => ({ shard: index % 8, dueAt: DUE_AT + 60_000 + index }))
    for (let from = 0; from < messages.length; from += 250)
      await open.subject.storeNew(...messages.slice(from, from + 250))
    await open.subject.storeNew(...others)
    const shards = [0, 1, 2, 3, 4, 5, 6, 7]
    expect(await open.subject.claimIds(DUE_AT, { shards })).toHaveLength(LEASED)
    const operatorOn = (persistence = open.persistence) =>
      createOperator({ name: 'orders', persistence, clock: createVirtualClock(DUE_AT) })
    const left = async () => (await open.subject.claimIds(DUE_AT + 120_000, { shards })).sort()
    return { ...open, operatorOn, left }
  }

  const filter = { name: 'payments/remind', dueAfter: new Date(DUE_AT - 60_000), dueBefore: new Date(DUE_AT + 120_000) }
  const expectedLeft = [
    ...sampleMessages(20, 'other').map(({ rowId }) => rowId),
    ...sampleMessages(LEASED, 'row').map(({ rowId }) => rowId),
  ].sort()

  test('with 3 leased returns { recalled: 997, tooLate: 3 }, and says its read cost first', async () => {
    const { operatorOn, beside, left } = await begin()
    const client = emulator.client()
    const costs: { rows: number; readUnits: number }[] = []
    const consumption = meterClient(client)
    let before = 0
    const result = await operatorOn(beside({ client })).recallMany(filter, {
      confirm: (cost) => {
        costs.push(cost)
        before = consumption.read
        return true
      },
    })
    expect(result).toEqual({ recalled: 997, tooLate: 3 })
    expect(costs).toMatchObject([{ rows: 1_020, isLowerBound: false }])
    // Reading the rows costs what was said, and a recall another unit for its look at the row.
    const [{ readUnits } = { readUnits: 0 }] = costs
    const read = consumption.read - before - 1_000
    expect(readUnits).toBeGreaterThan(50)
    expect(read).toBeGreaterThan(readUnits * 0.9)
    expect(read).toBeLessThan(readUnits * 2)
    console.log(`reading 1,020 rows: ${readUnits} units said, ${read} used; ${consumption.written} written`)
    expect(await left()).toEqual(expectedLeft)
  })

  test('killed at row 500 and run again, returns the same', async () => {
    const { operatorOn, beside, left } = await begin()
    const client = emulator.client()
    let recalls = 0
    watchClient(client, ({ command }) => {
      if (command === 'UpdateItemCommand') recalls++
      return recalls > 500 ? { refuse: sdkError('AccessDeniedException', 'killed') } : undefined
    })
    await expect(operatorOn(beside({ client })).recallMany(filter)).rejects.toMatchObject({
      code: 'persistence.access-denied',
    })
    expect(await operatorOn(beside()).recallMany(filter)).toEqual({ recalled: 997, tooLate: 3 })
    expect(await left()).toEqual(expectedLeft)
  })

  test('stopped and gone on with from its cursor, has dealt with every one once', async () => {
    const { operatorOn, left } = await begin()
    const stopping = new AbortController()
    const progress: number[] = []
    const first = await operatorOn().recallMany(filter, {
      signal: stopping.signal,
      onProgress: ({ recalled }) => {
        progress.push(recalled)
        if (recalled >= 400) stopping.abort()
      },
    })
    const second = await operatorOn().recallMany(filter, { cursor: first.cursor ?? '' })
    expect(first.recalled + second.recalled).toBe(997)
    expect(first.tooLate + second.tooLate).toBe(3)
    expect(progress).toEqual([...progress].sort((one, other) => one - other))
    expect(await left()).toEqual(expectedLeft)
  })
})
