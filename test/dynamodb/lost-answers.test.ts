import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Batching } from '../../lib/dynamodb/table.js'
import { bodyOfBytes, DUE_AT, sampleMessage, sampleMessages } from '../../lib/testing/contract/message-samples.js'
import { giveBack, idsOf } from '../../lib/testing/contract/subject.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { timeOut, watchClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

const WRITES = ['BatchExecuteStatementCommand', 'PutItemCommand', 'UpdateItemCommand', 'DeleteItemCommand']

/** Loses the answer to every first write after `arm()`; what the SDK or the persistence tries again goes through. */
const losing = async (emulator: TestDynamoDb, batching: Batching, level: 'calls' | 'attempts') => {
  const open = await openPersistence(emulator, { batching })
  let armed = 0
  let lost = 0
  watchClient(
    open.client,
    ({ command }) => {
      if (armed === 0 || !WRITES.includes(command)) return undefined
      armed--
      lost++
      return { lose: timeOut() }
    },
    level,
  )
  return {
    ...open,
    arm: (writes = 1) => {
      armed = writes
    },
    lost: () => lost,
  }
}

const modes: readonly Batching[] = whyNoDynoxide() === undefined ? ['partiql', 'single'] : ['single']
const batching = modes[0] ?? 'single'

describe.each(modes)('a write that was made though its answer was lost counts (%s)', (batching) => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(batching === 'partiql' ? 'dynoxide' : 'dynalite')
  })
  afterAll(() => emulator.stop())

  describe.each(['calls', 'attempts'] as const)('lost to %s', (level) => {
    test('a store is stored', async () => {
      const { subject, arm, lost } = await losing(emulator, batching, level)
      arm()
      expect(await subject.store(sampleMessage({ id: 'one' }))).toEqual(['stored'])
      expect(lost()).toBe(1)
      expect(await subject.claimIds(DUE_AT)).toEqual(['one'])
    })

    test('a claim is mine', async () => {
      const { subject, arm, lost, persistence } = await losing(emulator, batching, level)
      const messages = sampleMessages(3, 'row', (index) => ({ dueAt: DUE_AT + index }))
      await subject.storeNew(...messages)
      arm()
      const { claims } = await subject.claim(DUE_AT + 3)
      expect(idsOf(claims)).toEqual(idsOf(messages))
      expect(lost()).toBe(1)
      expect(await persistence.deleteOutgoingMessages(claims)).toEqual(messages.map(() => ({ outcome: 'settled' })))
    })

    test('a settle is settled', async () => {
      const { subject, arm, lost } = await losing(emulator, batching, level)
      await subject.storeNew(sampleMessage({ id: 'one' }))
      const claim = await subject.claimOne(DUE_AT)
      arm()
      expect(await subject.settle(claim)).toEqual(['settled'])
      expect(lost()).toBe(1)
    })

    test.each([undefined, 2])('a release is released (failures: %s)', async (failures) => {
      const { subject, arm, lost } = await losing(emulator, batching, level)
      await subject.storeNew(sampleMessage({ id: 'one' }))
      const claim = await subject.claimOne(DUE_AT)
      arm()
      const release = giveBack(claim, DUE_AT, failures === undefined ? {} : { failures })
      expect(await subject.release(release)).toEqual(['settled'])
      expect(lost()).toBe(1)
      expect((await subject.claimOne(DUE_AT)).failures).toBe(failures ?? 0)
    })

    test('a row given up is dead', async () => {
      const { subject, arm, lost, persistence, items } = await losing(emulator, batching, level)
      await subject.storeNew(sampleMessage({ id: 'one' }))
      const claim = await subject.claimOne(DUE_AT)
      arm()
      const dead = { reason: 'refused', diedAt: DUE_AT + 1 }
      expect(await subject.release(giveBack(claim, DUE_AT, { dead }))).toEqual(['settled'])
      expect(lost()).toBe(1)
      expect(idsOf(await persistence.inspection.listDead(10))).toEqual(['one'])
      expect(await items('due#')).toEqual([])
    })

    test('a recall is recalled', async () => {
      const { subject, arm, lost } = await losing(emulator, batching, level)
      const message = sampleMessage({ id: 'one', body: bodyOfBytes(3_000) })
      await subject.storeNew(message)
      arm()
      expect(await subject.recall(message, DUE_AT)).toBe('recalled')
      expect(lost()).toBe(1)
      expect(await subject.recall(message, DUE_AT)).toBe('already-recalled')
      expect(await subject.claimIds(DUE_AT)).toEqual([])
    })

    test('a tombstone is not-found, and stands', async () => {
      const { subject, arm, lost } = await losing(emulator, batching, level)
      const message = sampleMessage({ id: 'one' })
      arm()
      expect(await subject.recall(message, DUE_AT - 1)).toBe('not-found')
      expect(lost()).toBe(1)
      expect(await subject.store(message)).toEqual(['recalled'])
    })

    test('the recall of a dead row is recalled', async () => {
      const { subject, arm, lost, persistence } = await losing(emulator, batching, level)
      const message = sampleMessage({ id: 'one' })
      await subject.storeNew(message)
      const dead = { reason: 'refused', diedAt: DUE_AT + 1 }
      await subject.release(giveBack(await subject.claimOne(DUE_AT), DUE_AT, { dead }))
      arm()
      expect(await subject.recall(message, DUE_AT + 5)).toBe('recalled')
      expect(lost()).toBe(1)
      expect(await persistence.inspection.listDead(10)).toEqual([])
    })

    test('a worker lease is taken, and shards are grown', async () => {
      const { arm, lost, persistence } = await losing(emulator, batching, level)
      const worker = { owner: 'me', epoch: 1, leaseUntil: 5, stopsAt: 9 }
      arm()
      expect(await persistence.coordination.takeWorker(worker, undefined)).toBe(true)
      arm()
      expect(await persistence.coordination.growShards(20)).toEqual({ write: 8, read: 20 })
      expect(lost()).toBe(2)
    })
  })
})

describe('a write of which nobody knows whether it was made', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(modes.includes('partiql') ? 'dynoxide' : 'dynalite')
  })
  afterAll(() => emulator.stop())

  const refusing = async (which: (command: string) => boolean) => {
    const open = await openPersistence(emulator, { batching })
    let refuse = false
    watchClient(open.client, ({ command }) => (refuse && which(command) ? { refuse: timeOut() } : undefined))
    return {
      ...open,
      refuse: (on: boolean) => {
        refuse = on
      },
    }
  }
  const isWrite = (command: string) => WRITES.includes(command)

  test('a store is failed, unknown and retryable, and can be sent again', async () => {
    const { persistence, subject, refuse } = await refusing(isWrite)
    const messages = [sampleMessage({ id: 'one' }), sampleMessage({ id: 'two', body: bodyOfBytes(3_000) })]
    refuse(true)
    const outcomes = await persistence.storeOutgoingMessages(messages)
    expect(outcomes).toMatchObject([
      { outcome: 'failed', stored: 'unknown', error: { code: 'persistence.unavailable', retryable: true } },
      // Its row was never tried: the body comes first.
      { outcome: 'failed', stored: 'no', error: { code: 'persistence.unavailable' } },
    ])
    refuse(false)
    expect(await subject.store(...messages)).toEqual(['stored', 'stored'])
  })

  test('a settle is failed while the row is still there under its lease, and can be tried again', async () => {
    const { subject, persistence, refuse } = await refusing(isWrite)
    await subject.storeNew(sampleMessage({ id: 'one' }))
    const claim = await subject.claimOne(DUE_AT)
    refuse(true)
    expect(await persistence.deleteOutgoingMessages([claim])).toMatchObject([{ outcome: 'failed' }])
    expect(await persistence.releaseOutgoingMessages([giveBack(claim, DUE_AT)])).toMatchObject([{ outcome: 'failed' }])
    const dead = { reason: 'refused', diedAt: DUE_AT }
    expect(await persistence.releaseOutgoingMessages([giveBack(claim, DUE_AT, { dead })])).toMatchObject([
      { outcome: 'failed', error: { code: 'persistence.unavailable' } },
    ])
    refuse(false)
    expect(await subject.settle(claim)).toEqual(['settled'])
  })

  test('a pass that can claim nothing says why, and the next one works', async () => {
    const { subject, refuse } = await refusing(isWrite)
    await subject.storeNew(sampleMessage({ id: 'one' }))
    refuse(true)
    await expect(subject.claim(DUE_AT)).rejects.toMatchObject({ code: 'persistence.unavailable' })
    refuse(false)
    expect(await subject.claimIds(DUE_AT)).toEqual(['one'])
  })

  test('rows whose body can’t be read now are given back, and the others are delivered', async () => {
    const { subject, refuse, logged } = await refusing((command) => command === 'BatchGetItemCommand')
    await subject.storeNew(
      sampleMessage({ id: 'thick', body: bodyOfBytes(3_000) }),
      sampleMessage({ id: 'thin', dueAt: DUE_AT + 1 }),
    )
    refuse(true)
    const look = await subject.claim(DUE_AT + 1)
    expect([idsOf(look.claims), look.nextDueAt]).toEqual([['thin'], DUE_AT + 1])
    expect(logged.join()).toContain('persistence.unavailable')
    refuse(false)
    const claim = await subject.claimOne(DUE_AT + 1)
    expect([claim.rowId, claim.claims]).toEqual(['thick', 1])
  })

  test('one shard that can’t be read harms no other', async () => {
    const open = await openPersistence(emulator, { batching })
    await open.subject.storeNew(sampleMessage({ id: 'one', shard: 1 }), sampleMessage({ id: 'two', shard: 2 }))
    let broken = true
    watchClient(open.client, ({ command, input }) =>
      broken && command === 'QueryCommand' && JSON.stringify(input).includes('due#1')
        ? { refuse: timeOut() }
        : undefined,
    )
    const look = await open.subject.claim(DUE_AT, { shards: [1, 2] })
    expect([idsOf(look.claims), look.nextDueAt]).toEqual([['two'], DUE_AT])
    await expect(open.subject.claim(DUE_AT, { shards: [1, 2] })).rejects.toMatchObject({
      code: 'persistence.unavailable',
    })
    broken = false
    expect(await open.subject.claimIds(DUE_AT, { shards: [1, 2] })).toEqual(['one'])
  })

  test('a recall whose every answer is lost is an error that may be repeated', async () => {
    const { subject, refuse } = await refusing(() => true)
    const message = sampleMessage({ id: 'one' })
    await subject.storeNew(message)
    refuse(true)
    await expect(subject.recall(message, DUE_AT)).rejects.toMatchObject({
      code: 'persistence.unavailable',
      retryable: true,
    })
    refuse(false)
    expect(await subject.recall(message, DUE_AT)).toBe('recalled')
  })
})
