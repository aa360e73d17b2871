import { describe, expect, test } from 'vitest'
import { defineEvent } from '../../lib/core/message.js'
import { createOperator, type OperatorOptions } from '../../lib/core/operator.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { RemindPayment, refusalOf, setBus } from './bus-stage.js'

const HOUR_MS = 3_600_000
const TrialEnded = defineEvent('trials/ended', 1)<{ user: string }>()

const begin = (options: Partial<OperatorOptions> = {}) => {
  const stage = setBus()
  const operator = createOperator({ name: 'orders', persistence: stage.store, clock: stage.clock, ...options })
  const send = (orderId: string, hours: number, more: object = {}) =>
    stage.bus.send(RemindPayment({ orderId }), { deliverAfter: hours * HOUR_MS, ...more })
  /** Gives up on what is due. */
  const giveUp = async () => {
    const now = stage.clock.now()
    const { claims } = await stage.store.claimDueOutgoingMessages({ now, dueBefore: now, limit: 9, leaseMs: 9_000 })
    const dead = { reason: 'refused', diedAt: now }
    await stage.store.releaseOutgoingMessages(
      claims.map((claim) => ({ claim, published: 'no', notBefore: now, failures: 5, dead })),
    )
  }
  return { ...stage, operator, send, giveUp }
}

describe('an operator', () => {
  test('lists what is scheduled, by instant, name, key and correlation id, with handles that work', async () => {
    const { operator, send, bus, startAt } = begin()
    const first = await send('1', 1, { key: 'invoice-1', correlationId: 'c-1' })
    await send('2', 2, { key: 'invoice-2' })
    await bus.publish(TrialEnded({ user: 'u' }), { deliverAfter: 3 * HOUR_MS, correlationId: 'c-1' })
    const namesOf = async (...args: Parameters<typeof operator.list>) =>
      (await operator.list(...args)).messages.map(({ name, key = '-' }) => `${name} ${key}`)
    const [one, two, ended] = ['orders/remind invoice-1', 'orders/remind invoice-2', 'trials/ended -']
    expect(await namesOf()).toEqual([one, two, ended])
    expect(await namesOf({ dueAfter: new Date(startAt + 2 * HOUR_MS) })).toEqual([two, ended])
    expect(await namesOf({ dueBefore: { epochMilliseconds: startAt + 2 * HOUR_MS } })).toEqual([one])
    expect(await namesOf({ name: 'trials/ended' })).toEqual([ended])
    expect(await namesOf({ key: 'invoice-2' })).toEqual([two])
    expect(await namesOf({ keyPrefix: 'invoice-' })).toEqual([one, two])
    expect(await namesOf({ correlationId: 'c-1' })).toEqual([one, ended])
    expect(await namesOf({ correlationId: 'c-1', name: 'orders/remind' })).toEqual([one])
    const [listed] = (await operator.list({ key: 'invoice-1' })).messages
    expect(listed).toMatchObject({ messageId: first.messageId, dueAt: first.dueAt, recallHandle: first.recallHandle })
    await bus.recall(listed?.recallHandle ?? '')
    expect(await namesOf({ keyPrefix: 'invoice-' })).toEqual([two])
  })

  test('lists page by page', async () => {
    const { operator, send } = begin()
    for (let index = 0; index < 7; index++) await send(String(index), index + 1)
    const pages: number[] = []
    let cursor: string | undefined
    do {
      const page = await operator.list({ limit: 3, ...(cursor !== undefined && { cursor }) })
      pages.push(page.messages.length)
      cursor = page.cursor
    } while (cursor !== undefined)
    expect(pages).toEqual([3, 3, 1])
    expect((await operator.estimate()).rows).toBe(7)
  })

  test('peeks at a message by its handle, and at none that is gone', async () => {
    const { operator, send, bus } = begin()
    const { recallHandle = '' } = await send('1', 1)
    const moved = await bus.reschedule(recallHandle, { deliverAfter: 5 * HOUR_MS })
    const peeked = await operator.peek(recallHandle)
    expect(peeked).toMatchObject({ state: 'waiting', dueAt: moved.dueAt, recallHandle: moved.recallHandle })
    expect(peeked?.envelope).toMatchObject({ name: 'orders/remind' })
    const other = setBus()
    const unknown = await other.bus.send(RemindPayment({ orderId: '9' }), { deliverAfter: 1 })
    expect(await operator.peek(unknown.recallHandle ?? '')).toBeUndefined()
  })

  test('puts back and purges what was given up on', async () => {
    const hints: unknown[] = []
    const { operator, send, giveUp, clock, rowsLeft } = begin({ wakeHint: async (hint) => void hints.push(hint) })
    const [one, two, three] = [await send('1', 1), await send('2', 1), await send('3', 1)]
    await clock.advanceBy(HOUR_MS)
    await giveUp()
    const dead = await operator.listDead()
    expect(dead.map(({ reason, failures }) => [reason, failures])).toEqual(dead.map(() => ['refused', 5]))
    expect(await operator.listDead(2)).toHaveLength(2)
    const find = (id: string) => dead.find(({ rowId }) => rowId === id) ?? ''
    const now = clock.now()
    expect(await operator.putBack(find(one.messageId))).toMatchObject({ outcome: 'put-back', address: { dueAt: now } })
    expect(hints).toEqual([{ shard: 0, dueAt: now, now }])
    expect(await operator.putBack(two.recallHandle ?? '', { deliverAfter: HOUR_MS })).toMatchObject({
      outcome: 'put-back',
      address: { dueAt: now + HOUR_MS },
    })
    expect([await operator.purge(find(three.messageId)), await operator.purge(find(three.messageId))]).toEqual([
      ...[true, false],
    ])
    expect(await operator.listDead()).toEqual([])
    expect((await rowsLeft()).map(({ rowId, failures }) => [rowId, failures])).toEqual([
      [one.messageId, 0],
      [two.messageId, 0],
    ])
  })

  test('pauses and resumes; done twice, it stays so', async () => {
    const { operator, store } = begin()
    expect(await operator.pause()).toEqual({ paused: true, version: 1 })
    expect(await operator.pause()).toEqual({ paused: true, version: 1 })
    expect(await store.coordination.readPause?.()).toEqual({ paused: true, version: 1 })
    expect(await operator.resume()).toEqual({ paused: false, version: 2 })
  })

  test('is refused filters and handles that can’t be meant', async () => {
    const { operator } = begin()
    for (const [filter, code] of [
      [{ dueAfter: 5 }, 'options.invalid'],
      [{ dueBefore: undefined }, 'options.invalid'],
      [{ name: undefined }, 'options.invalid'],
      [{ keyPrefix: '' }, 'options.invalid'],
      [{ nmae: 'x' }, 'options.unknown'],
      [{ limit: 0 }, 'options.invalid'],
    ] as const)
      expect(await refusalOf(operator.list(filter as never)), JSON.stringify(filter)).toMatchObject({ code })
    expect(await refusalOf(operator.peek('nonsense'))).toMatchObject({ code: 'recall.malformed-handle' })
  })

  test('needs a persistence that shows and pauses', async () => {
    const { inspection: _, ...blind } = memoryPersistence()
    expect(() => createOperator({ name: 'orders', persistence: blind })).toThrow('shows operators nothing')
    const { readPause: __, ...coordination } = memoryPersistence().coordination
    const operator = createOperator({ name: 'orders', persistence: { ...memoryPersistence(), coordination } })
    expect(await refusalOf(operator.pause())).toMatchObject({ code: 'persistence.pause-not-supported' })
  })
})

describe('a bulk recall', () => {
  test('withdraws what the filter accepts and nothing else, and tells its cost and progress', async () => {
    const { operator, send, rowsLeft } = begin()
    for (let index = 0; index < 900; index++) await send(String(index), 1 + index, { key: `invoice-${index}` })
    await send('other', 5, { key: 'order-1' })
    const told: unknown[] = []
    const result = await operator.recallMany(
      { keyPrefix: 'invoice-' },
      {
        confirm: (cost) => {
          told.push(cost)
          return true
        },
        onProgress: ({ recalled }) => told.push(recalled),
      },
    )
    expect(result).toEqual({ recalled: 900, tooLate: 0 })
    expect(told).toEqual([{ rows: 901, readUnits: 0, isLowerBound: false }, 500, 900])
    expect(await rowsLeft()).toHaveLength(1)
  })

  test('reads nothing when its cost is not confirmed, and stops when it is told to', async () => {
    const { operator, send } = begin()
    for (let index = 0; index < 600; index++) await send(String(index), 1)
    const filter = { name: 'orders/remind' }
    expect(await operator.recallMany(filter, { confirm: async () => false })).toEqual({ recalled: 0, tooLate: 0 })
    const stopping = new AbortController()
    const stopped = await operator.recallMany(filter, {
      signal: stopping.signal,
      onProgress: () => stopping.abort(),
    })
    expect(stopped).toEqual({ recalled: 500, tooLate: 0, cursor: expect.any(String) })
    const { cursor = '' } = stopped
    expect(await operator.recallMany(filter, { cursor })).toEqual({ recalled: 100, tooLate: 0 })
    expect(await operator.recallMany(filter)).toEqual({ recalled: 600, tooLate: 0 })
  })

  test('says what may have gone out', async () => {
    const { operator, send, store, clock } = begin()
    await send('1', 1)
    await clock.advanceBy(HOUR_MS)
    const now = clock.now()
    const { claims } = await store.claimDueOutgoingMessages({ now, dueBefore: now, limit: 9, leaseMs: 9_000 })
    await store.releaseOutgoingMessages(claims.map((claim) => ({ claim, published: 'perhaps', notBefore: now })))
    const result = await operator.recallMany({ name: 'orders/remind' })
    expect(result).toEqual({ recalled: 0, tooLate: 0, possiblyDelivered: 1 })
  })

  test.each([{}, { dueAfter: new Date(0) }])('is refused with the empty filter %j', async (filter) => {
    const { operator, send, rowsLeft } = begin()
    await send('1', 1)
    expect(await refusalOf(operator.recallMany(filter))).toMatchObject({ code: 'operator.empty-filter' })
    expect(await rowsLeft()).toHaveLength(1)
  })
})
