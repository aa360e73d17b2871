import { describe, expect, test } from 'vitest'
import { randomIds } from '../../lib/core/ids.js'
import { LEASE_MARGIN_MS } from '../../lib/core/lease.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { DUE_AT, sampleMessage, sampleMessages } from '../../lib/testing/contract/message-samples.js'

const lookAt = (now: number, limit = 100) => ({ now, dueBefore: now, limit, leaseMs: 30_000 })

// What every persistence promises is in the contract suite; here is what only this one does.
describe('the persistence in memory', () => {
  test('says that it is not durable', () => {
    const { name, durable } = memoryPersistence()
    expect({ name, durable }).toEqual({ name: 'memory', durable: false })
  })

  test('takes its tokens from the ids that it is given', async () => {
    let tokens = 0
    const persistence = memoryPersistence({ ids: { ...randomIds, token: () => `token-${++tokens}` } })
    await persistence.storeOutgoingMessages([sampleMessage({ id: 'one' })])
    const { claims } = await persistence.claimDueOutgoingMessages(lookAt(DUE_AT))
    expect(claims.map(({ lease }) => lease)).toEqual([`00${DUE_AT + 30_000}#l#1#token-2`])
  })

  test('has as many shards as it is told, and one by default', async () => {
    expect(await memoryPersistence().coordination.readShards()).toEqual({ write: 1, read: 1 })
    expect(await memoryPersistence({ shards: 5 }).coordination.readShards()).toEqual({ write: 5, read: 5 })
  })

  test('keeps what is left of a recall until the margin after the due instant, for a sender whose clock lags', async () => {
    const persistence = memoryPersistence()
    const message = sampleMessage({ id: 'one' })
    expect(await persistence.recallOutgoingMessage(message, DUE_AT - 1)).toBe('not-found')
    await persistence.claimDueOutgoingMessages(lookAt(DUE_AT + LEASE_MARGIN_MS - 1))
    expect(await persistence.storeOutgoingMessages([message])).toEqual([{ outcome: 'recalled' }])
    await persistence.claimDueOutgoingMessages(lookAt(DUE_AT + LEASE_MARGIN_MS))
    expect(await persistence.storeOutgoingMessages([message])).toEqual([{ outcome: 'stored' }])
  })

  test('drains 20,000 rows of three shards in order, each once', async () => {
    const persistence = memoryPersistence({ shards: 3 })
    await persistence.storeOutgoingMessages(
      sampleMessages(20_000, 'row', (index) => ({ dueAt: DUE_AT + ((index * 7_919) % 20_000), shard: index % 3 })),
    )
    const drained: number[] = []
    for (let more = true; more; ) {
      const look = await persistence.claimDueOutgoingMessages(lookAt(DUE_AT + 20_000))
      drained.push(...look.claims.map(({ dueAt }) => dueAt - DUE_AT))
      await persistence.deleteOutgoingMessages(look.claims)
      more = look.more
    }
    expect(drained).toEqual(Array.from({ length: 20_000 }, (_, index) => index))
  })
})
