import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../lib/dynamodb/table.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'
import { startTestDynamoDb, type TestDynamoDb } from '../support/dynamodb-table.js'
import { sdkError, watchClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

const WORKER = { owner: 'one', epoch: 1, leaseUntil: 1_000, stopsAt: 9_000 }

describe('coordination', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(undefined)
  })
  afterAll(() => emulator.stop())

  const open = (options = {}) => openPersistence(emulator, { batching: emulator.batching, ...options })

  test('a table on which nothing was set has eight shards', async () => {
    const { persistence, beside } = await open()
    expect(await persistence.coordination.readShards()).toEqual({ write: 8, read: 8 })
    expect(await beside({ writeShards: 3 }).coordination.readShards()).toEqual({ write: 3, read: 8 })
  })

  test('a sender writes to no shard that is not read yet', async () => {
    const { beside } = await open()
    const sender = beside({ writeShards: 32 })
    expect(await sender.coordination.readShards()).toEqual({ write: 8, read: 8 })
    await beside().coordination.growShards(16)
    expect(await beside({ writeShards: 32 }).coordination.readShards()).toEqual({ write: 16, read: 16 })
    await beside().coordination.growShards(40)
    expect(await beside({ writeShards: 32 }).coordination.readShards()).toEqual({ write: 32, read: 40 })
  })

  test('the first pass of a dispatcher has its shards read, and only then do senders write there', async () => {
    const { beside, items } = await open()
    expect((await beside({ writeShards: 32 }).coordination.readShards()).write).toBe(8)
    const look = { now: 0, dueBefore: 0, limit: 10, leaseMs: 30_000 }
    await beside({ writeShards: 8 }).claimDueOutgoingMessages(look)
    await beside({ writeShards: 32 }).claimDueOutgoingMessages({ ...look, shards: [3] })
    expect(await items('control')).toEqual([])
    await beside({ writeShards: 32 }).claimDueOutgoingMessages(look)
    expect(await beside({ writeShards: 32 }).coordination.readShards()).toEqual({ write: 32, read: 32 })
  })

  test('a dispatcher that may not raise the count of shards dispatches all the same', async () => {
    const { persistence, client } = await open({ writeShards: 32 })
    watchClient(client, ({ command }) =>
      command === 'UpdateItemCommand' ? { refuse: sdkError('AccessDeniedException') } : undefined,
    )
    const { claims } = await persistence.claimDueOutgoingMessages({ now: 0, dueBefore: 0, limit: 10, leaseMs: 30_000 })
    expect(claims).toEqual([])
  })

  test('reading shard counts writes nothing', async () => {
    const { persistence, items } = await open()
    await persistence.coordination.readShards()
    await persistence.coordination.growShards(4)
    expect(await items('control')).toEqual([])
  })

  test('the read count never shrinks, whoever grows it in whatever order', async () => {
    const { beside, persistence } = await open()
    await Promise.all([12, 30, 9, 21].map((atLeast) => beside().coordination.growShards(atLeast)))
    expect((await persistence.coordination.growShards(2)).read).toBe(30)
    expect((await beside().coordination.readShards()).read).toBe(30)
  })

  test('shard counts are read once a minute, and an old count is used when they can’t be read', async () => {
    const clock = createVirtualClock()
    const { persistence, beside, client } = await open({ clock })
    let reads = 0
    let broken = false
    watchClient(client, ({ command }) => {
      if (command === 'GetItemCommand') reads++
      return broken ? { refuse: sdkError('InternalServerError') } : undefined
    })
    await persistence.coordination.readShards()
    await beside().coordination.growShards(20)
    await clock.advanceBy(59_999)
    expect([await persistence.coordination.readShards(), reads]).toEqual([{ write: 8, read: 8 }, 1])
    await clock.advanceBy(1)
    expect([await persistence.coordination.readShards(), reads]).toEqual([{ write: 8, read: 20 }, 2])
    await clock.advanceBy(60_000)
    broken = true
    expect(await persistence.coordination.readShards()).toEqual({ write: 8, read: 20 })
    broken = false
    await beside().coordination.growShards(25)
    expect((await persistence.coordination.readShards()).read).toBe(25)
  })

  test('of several that saw the same worker one takes over', async () => {
    const { beside, persistence } = await open()
    expect(await persistence.coordination.readWorker()).toBeUndefined()
    for (const seen of [undefined, WORKER]) {
      const epoch = (seen?.epoch ?? 0) + 1
      const taken = await Promise.all(
        ['a', 'b', 'c'].map((owner) =>
          beside().coordination.takeWorker({ ...WORKER, owner: seen === undefined ? 'one' : owner, epoch }, seen),
        ),
      )
      // The first round writes one and the same lease, so each finds it there and says that it has it.
      expect(taken.filter(Boolean)).toHaveLength(seen === undefined ? 3 : 1)
      expect((await persistence.coordination.readWorker())?.epoch).toBe(epoch)
    }
  })

  const leases: Readonly<Record<string, Item>> = {
    'is not whole': { epoch: { S: 'five' } },
    'has a text for a number': { epoch: { S: 'five' }, leaseUntil: { N: '0' }, stopsAt: { N: '0' } },
    'has numbers that are not whole': { epoch: { N: '1.5' }, leaseUntil: { N: '0.5' }, stopsAt: { N: '0' } },
  }

  test.each(Object.entries(leases))('a worker lease that %s can be taken over', async (_, part) => {
    const { persistence, tableName } = await open()
    const { coordination } = persistence
    const item = { pk: { S: 'control' }, sk: { S: 'worker' }, owner: { S: 'someone' }, ...part }
    await emulator.client().send(new PutItemCommand({ TableName: tableName, Item: item }))
    expect(await coordination.takeWorker(WORKER, await coordination.readWorker())).toBe(true)
    expect(await coordination.readWorker()).toEqual(WORKER)
  })
})
