import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatLease, LEASE_MARGIN_MS, withdrawn } from '../../lib/core/lease.js'
import { TOMBSTONE_MS } from '../../lib/dynamodb/read-shard.js'
import { runBounded } from '../../lib/dynamodb/run-bounded.js'
import type { Item } from '../../lib/dynamodb/table.js'
import { DUE_AT, sampleMessage, sampleMessages } from '../../lib/testing/contract/message-samples.js'
import { giveBack, idsOf, LEASE_ENDS_AT, LEASE_MS } from '../../lib/testing/contract/subject.js'
import { startTestDynamoDb, type TestDynamoDb } from '../support/dynamodb-table.js'
import { watchClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

describe('reading shards', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(undefined)
  })
  afterAll(() => emulator.stop())

  const open = async (options = {}) => {
    const opened = await openPersistence(emulator, { batching: emulator.batching, ...options })
    const queries: { readonly shard: string; readonly limit: number }[] = []
    watchClient(opened.client, ({ command, input }) => {
      if (command === 'QueryCommand') {
        const values = input.ExpressionAttributeValues as { readonly ':pk': { readonly S: string } }
        queries.push({ shard: values[':pk'].S, limit: Number(input.Limit) })
      }
      return undefined
    })
    return { ...opened, queries, shardsRead: () => queries.splice(0).map(({ shard }) => shard) }
  }

  test('a look at a quiet shard is one query of four rows', async () => {
    const { subject, queries } = await open()
    await subject.storeNew(...sampleMessages(10, 'row', (index) => ({ dueAt: DUE_AT + 10_000 + index })))
    expect((await subject.claim(DUE_AT)).nextDueAt).toBe(DUE_AT + 10_000)
    expect(queries).toEqual([{ shard: 'due#0', limit: 4 }])
  })

  test('what comes after more due rows than a page holds is told to the millisecond', async () => {
    const { subject } = await open()
    for (const due of [3, 4, 5, 40]) {
      await subject.storeNew(...sampleMessages(due, `due-${due}`, () => ({ shard: due })))
      await subject.storeNew(sampleMessage({ id: 'later', dueAt: DUE_AT + 777_777, shard: due }))
      const look = await subject.claim(DUE_AT, { shards: [due] })
      expect([look.claims.length, look.nextDueAt, look.more]).toEqual([due, DUE_AT + 777_777, false])
    }
  })

  test('a row claimed ahead of its time does not hide one that is due while it is held', async () => {
    const { subject } = await open()
    await subject.storeNew(sampleMessage({ id: 'ahead' }))
    await subject.claimOne(DUE_AT - 2_000, { dueBefore: DUE_AT })
    await subject.storeNew(sampleMessage({ id: 'next', dueAt: DUE_AT + 1 }))
    expect((await subject.claim(DUE_AT - 1_500)).nextDueAt).toBe(DUE_AT + 1)
  })

  test('a page of recalled rows to come says when the next look is worth its while', async () => {
    const { subject } = await open()
    const recalled = sampleMessages(6, 'recalled', (index) => ({ dueAt: DUE_AT + index }))
    await subject.storeNew(...recalled, sampleMessage({ id: 'live', dueAt: DUE_AT + 50 }))
    for (const one of recalled) await subject.recall(one, DUE_AT - 10)
    const { nextDueAt } = await subject.claim(DUE_AT - 10)
    expect(nextDueAt).toBe(DUE_AT + 3)
    expect((await subject.claim(DUE_AT + 3)).nextDueAt).toBe(DUE_AT + 50)
  })

  test('900 held rows are passed in a few queries, and 2,000 end the reading of their shard only', async () => {
    const { subject, queries } = await open()
    const hold = async (count: number, shard: number) => {
      for (let at = 0; at < count; at += 500) {
        const some = sampleMessages(Math.min(500, count - at), `held-${at}`, () => ({ shard }))
        await subject.storeNew(...some)
        await subject.claim(DUE_AT, { shards: [shard] })
      }
    }
    await hold(900, 1)
    await subject.storeNew(sampleMessage({ id: 'behind', dueAt: DUE_AT + 1, shard: 1 }))
    queries.length = 0
    expect(await subject.claimIds(DUE_AT + 1, { shards: [1], limit: 1 })).toEqual(['behind'])
    expect(queries.length).toBeLessThanOrEqual(7)

    await hold(2_100, 2)
    await subject.storeNew(
      sampleMessage({ id: 'hidden', dueAt: DUE_AT + 1, shard: 2 }),
      sampleMessage({ id: 'elsewhere', dueAt: DUE_AT + 2, shard: 3 }),
    )
    const look = await subject.claim(DUE_AT + 2, { shards: [2, 3] })
    expect([idsOf(look.claims), look.nextDueAt]).toEqual([['elsewhere'], LEASE_ENDS_AT])
    const ended = await subject.claimIds(LEASE_ENDS_AT, { shards: [2], limit: 3_000 })
    expect([ended.length, ended.at(-1)]).toEqual([2_101, 'hidden'])
  }, 60_000)

  test('of a thousand recalled messages a pass removes some, and claims what is due behind them', async () => {
    const { subject, client, items, tableName } = await open()
    await subject.storeNew(...sampleMessages(1_100, 'recalled'), sampleMessage({ id: 'due', dueAt: DUE_AT + 1 }))
    const lease = { S: formatLease(withdrawn(DUE_AT - 1, 'token')) }
    const withdraw = (item: Item) => client.send(new PutItemCommand({ TableName: tableName, Item: { ...item, lease } }))
    await runBounded((await items('due#')).slice(0, 1_100), 8, withdraw)
    const now = DUE_AT + TOMBSTONE_MS
    expect(await subject.claimIds(now)).toEqual(['due'])
    const left = [(await items('due#')).length]
    for (let pass = 0; pass < 2; pass++) {
      expect(await subject.claimIds(now)).toEqual([])
      left.push((await items('due#')).length)
    }
    expect(left).toEqual([601, 101, 1])
  }, 60_000)

  test('under a limit no shard waits for another for ever', async () => {
    const { persistence, subject } = await open()
    for (let shard = 0; shard < 8; shard++)
      await subject.storeNew(...sampleMessages(12, `shard-${shard}`, () => ({ shard })))
    const firsts = new Set<number>()
    for (let pass = 0; pass < 8; pass++) {
      const { claims } = await persistence.claimDueOutgoingMessages({
        now: DUE_AT,
        dueBefore: DUE_AT,
        limit: 4,
        leaseMs: LEASE_MS,
      })
      for (const { shard } of claims) firsts.add(shard)
    }
    expect(firsts.size).toBe(8)
  })

  test('a drain reads each shard once a pass, and little more than it claims', async () => {
    const { persistence, subject, queries } = await open()
    for (let shard = 0; shard < 8; shard++)
      await subject.storeNew(
        ...sampleMessages(100, `shard-${shard}`, (index) => ({ shard, dueAt: DUE_AT + index * 8 + shard })),
      )
    const pass = async () => {
      queries.length = 0
      const look = await persistence.claimDueOutgoingMessages({
        now: DUE_AT + 800,
        dueBefore: DUE_AT + 800,
        limit: 200,
        leaseMs: LEASE_MS,
      })
      await persistence.deleteOutgoingMessages(look.claims)
      return look.claims.length
    }
    expect(await pass()).toBe(200)
    expect(await pass()).toBe(200)
    expect(queries).toHaveLength(8)
    expect(queries.every(({ limit }) => limit === 26)).toBe(true)
  })

  describe('shards without writers', () => {
    const grown = async () => {
      const opened = await open({ writeShards: 2 })
      await opened.persistence.coordination.growShards(10)
      const look = (now: number) =>
        opened.persistence.claimDueOutgoingMessages({ now, dueBefore: now, limit: 100, leaseMs: LEASE_MS })
      return { ...opened, look }
    }
    const all = Array.from({ length: 10 }, (_, shard) => `due#${shard}`)
    const written = all.slice(0, 2)

    test('are read by the first pass, and then once a minute', async () => {
      const { look, shardsRead } = await grown()
      await look(DUE_AT)
      expect(shardsRead().sort()).toEqual(all)
      await look(DUE_AT + 1_000)
      await look(DUE_AT + 59_999)
      expect(shardsRead().sort()).toEqual([...written, ...written].sort())
      await look(DUE_AT + 60_000)
      expect(shardsRead().sort()).toEqual(all)
    })

    test('are read when what they hold falls due, and that is told meanwhile', async () => {
      const { look, subject, shardsRead } = await grown()
      await subject.storeNew(sampleMessage({ id: 'old', shard: 9, dueAt: DUE_AT + 7_000 }))
      expect((await look(DUE_AT)).nextDueAt).toBe(DUE_AT + 7_000)
      expect((await look(DUE_AT + 6_999)).nextDueAt).toBe(DUE_AT + 7_000)
      shardsRead()
      expect(idsOf((await look(DUE_AT + 7_000)).claims)).toEqual(['old'])
      expect(shardsRead().sort()).toEqual([...written, 'due#9'].sort())
    })

    test('are read on while something is done in them, and when a lease in them ends', async () => {
      const { look, subject } = await grown()
      await subject.storeNew(...sampleMessages(3, 'old', () => ({ shard: 7 })))
      const [one, two] = (await look(DUE_AT)).claims
      if (one === undefined || two === undefined) throw new Error('three rows are claimed')
      expect((await look(DUE_AT + 1)).claims).toEqual([])
      await subject.release(giveBack(one, DUE_AT + 2))
      expect(idsOf((await look(DUE_AT + 2)).claims)).toEqual([one.rowId])
      await subject.settle(two)
      await look(DUE_AT + 3)
      expect((await look(DUE_AT + LEASE_MS + LEASE_MARGIN_MS)).claims).toHaveLength(1)
    })
  })

  test('a tombstone outlasts every store still in flight, and then goes, without being waited for', async () => {
    const { subject, items } = await open()
    const message = sampleMessage({ id: 'one' })
    expect(await subject.recall(message, DUE_AT - 1)).toBe('not-found')
    const early = await subject.claim(DUE_AT + TOMBSTONE_MS - 1)
    expect([early.claims, early.nextDueAt, early.more]).toEqual([[], undefined, false])
    expect(await subject.store(message)).toEqual(['recalled'])
    await subject.claim(DUE_AT + TOMBSTONE_MS)
    expect(await items('due#')).toEqual([])
  })
})
