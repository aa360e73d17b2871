import { describe, expect, test } from 'vitest'
import { PostdateError } from '../../lib/core/errors.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { RemindPayment, refusalOf, setBus } from './bus-stage.js'
import { failAll } from './dispatch/stage.js'

const remind = RemindPayment({ orderId: '42' })

describe('a failing store', () => {
  test('that is unsure raises an error with the receipt, by which the sender can ask and send again', async () => {
    const memory = memoryPersistence()
    let failures = 1
    const { bus, startAt } = setBus({
      persistence: {
        ...memory,
        storeOutgoingMessages: async (messages) => {
          const outcomes = await memory.storeOutgoingMessages(messages)
          if (failures-- > 0) throw new Error('the answer was lost')
          return outcomes
        },
      },
    })
    const error = await refusalOf(bus.send(remind, { deliverAfter: 60_000 }))
    expect(error).toMatchObject({
      code: 'persistence.unavailable',
      retryable: true,
      details: {
        persistence: 'memory',
        reason: 'the answer was lost',
        receipt: { messageId: expect.any(String), dueAt: startAt + 60_000, recallHandle: expect.any(String) },
      },
    })
    const { receipt } = (error as { details: { receipt: { messageId: string; recallHandle: string } } }).details
    const repeat = { messageId: receipt.messageId, deliverAt: new Date(startAt + 60_000) }
    expect(await bus.send(remind, repeat)).toMatchObject({ status: 'scheduled', recallHandle: receipt.recallHandle })
    expect(await bus.recall(receipt.recallHandle)).toMatchObject({ outcome: 'recalled' })
  })

  test('that says which, raises its own error', async () => {
    const memory = memoryPersistence()
    const denied = new PostdateError('persistence.access-denied', {
      persistence: 'memory',
      operation: 'store',
      reason: 'no',
    })
    for (const storeOutgoingMessages of [
      async () => [{ outcome: 'failed', stored: 'no', error: denied } as const],
      async () => {
        throw denied
      },
    ]) {
      const { bus } = setBus({ persistence: { ...memory, storeOutgoingMessages } })
      expect(await refusalOf(bus.send(remind, { deliverAfter: 5 }))).toMatchObject({
        code: 'persistence.access-denied',
        details: { receipt: { messageId: expect.any(String) } },
      })
    }
  })

  test('that gives no outcome at all is an error, never a success', async () => {
    const { bus } = setBus({ persistence: { ...memoryPersistence(), storeOutgoingMessages: async () => [] } })
    expect(await refusalOf(bus.send(remind, { deliverAfter: 5 }))).toMatchObject({ code: 'persistence.unavailable' })
  })

  test('that can not tell its shards is a typed error', async () => {
    const memory = memoryPersistence()
    const readShards = async () => {
      throw new Error('ECONNREFUSED')
    }
    const persistence = { ...memory, coordination: { ...memory.coordination, readShards } }
    expect(await refusalOf(setBus({ persistence }).bus.send(remind, { deliverAfter: 5 }))).toMatchObject({
      code: 'persistence.unavailable',
      details: { operation: 'read the shard counts', reason: 'ECONNREFUSED' },
    })
  })
})

describe('a failing topic', () => {
  test('raises an error with the receipt after three tries', async () => {
    const { bus, clock, requests } = setBus({ answer: failAll('topic', 'perhaps', 'throttled') })
    expect(await clock.runUntil(refusalOf(bus.send(remind)))).toMatchObject({
      code: 'transport.unavailable',
      details: { published: 'perhaps', receipt: { messageId: expect.any(String) } },
    })
    expect(requests).toHaveLength(3)
  })
})

describe('a wake hint', () => {
  test('is left for rows due within 130 s, once they are stored, and fails no send', async () => {
    const hints: unknown[] = []
    let stored = 0
    const memory = memoryPersistence()
    const { bus, warnings, startAt } = setBus({
      persistence: {
        ...memory,
        durable: true,
        storeOutgoingMessages: async (messages) => {
          stored += messages.length
          return memory.storeOutgoingMessages(messages)
        },
      },
      wakeHint: (hint) => {
        hints.push({ ...hint, stored })
        if (hints.length > 1) throw new Error('queue is gone')
        return Promise.resolve()
      },
    })
    await bus.send(remind, { deliverAfter: 130_001 })
    await bus.send(remind)
    expect(hints).toEqual([])
    await bus.send(remind, { deliverAfter: 130_000 })
    expect(hints).toEqual([{ shard: 0, dueAt: startAt + 130_000, now: startAt, stored: 2 }])
    expect((await bus.send(remind, { deliverAfter: 5 })).status).toBe('scheduled')
    expect(warnings()).toEqual([expect.stringContaining('wake hint')])
  })
})

describe('a recall', () => {
  test('answers for messages of its own bus only, and refuses what is no handle', async () => {
    const { bus, store, clock } = setBus()
    const other = setBus({ name: 'billing', share: { store, clock } })
    const { recallHandle = '' } = await bus.send(remind, { deliverAfter: 5_000 })
    expect(await refusalOf(other.bus.recall(recallHandle))).toMatchObject({ code: 'recall.other-bus' })
    expect(await refusalOf(bus.recall('reminder-42'))).toMatchObject({ code: 'recall.malformed-handle' })
    expect(await bus.recall(recallHandle)).toMatchObject({ outcome: 'recalled' })
    expect(await bus.recall(recallHandle)).toMatchObject({ outcome: 'already-recalled' })
  })

  test('works from another bus of the name on the same store, also after this one was stopped', async () => {
    const { bus, store, clock, startAt } = setBus()
    const { recallHandle = '', messageId } = await bus.send(remind, { deliverAfter: 50_000 })
    await bus.stop()
    const again = setBus({ share: { store, clock } })
    expect(await again.bus.recall(recallHandle)).toEqual({ outcome: 'recalled', messageId, dueAt: startAt + 50_000 })
  })

  test('on a persistence without it, or whose store fails, is a typed error', async () => {
    const { recallHandle = '' } = await setBus().bus.send(remind, { deliverAfter: 5_000 })
    expect(await refusalOf(setBus({ persistence: { name: 'sagas' } }).bus.recall(recallHandle))).toMatchObject({
      code: 'persistence.recall-not-supported',
    })
    const recallOutgoingMessage = async () => {
      throw new Error('timeout')
    }
    const { bus } = setBus({ persistence: { ...memoryPersistence(), recallOutgoingMessage } })
    expect(await refusalOf(bus.recall(recallHandle))).toMatchObject({
      code: 'persistence.unavailable',
      retryable: true,
    })
  })
})
