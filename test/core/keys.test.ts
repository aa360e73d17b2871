import { describe, expect, test } from 'vitest'
import type { Bus } from '../../lib/core/bus.js'
import { parseHandle } from '../../lib/core/handle.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { RemindPayment, refusalOf, setBus } from './bus-stage.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const KEY = 'invoice-17'
const remind = (orderId: string) => RemindPayment({ orderId })

const bodiesOf = async ({ rowsLeft }: ReturnType<typeof setBus>) =>
  (await rowsLeft()).map(({ envelope }) =>
    typeof envelope === 'string' ? envelope : JSON.parse(envelope.body).orderId,
  )

describe('a send with a key', () => {
  test('keeps the message that is scheduled, and answers its receipt as a duplicate', async () => {
    const stage = setBus()
    const first = await stage.bus.send(remind('1'), { deliverAfter: HOUR_MS, key: KEY })
    expect(first).toEqual({
      status: 'scheduled',
      messageId: expect.any(String),
      dueAt: stage.startAt + HOUR_MS,
      recallHandle: expect.any(String),
    })
    for (const ifScheduled of [undefined, 'keep'] as const) {
      const options = { deliverAfter: 5, key: KEY, ...(ifScheduled !== undefined && { ifScheduled }) }
      expect(await stage.bus.send(remind('2'), options)).toEqual({ ...first, duplicate: true })
    }
    expect(stage.events.at(-1)).toEqual({ type: 'kept', messageId: first.messageId, name: 'orders/remind' })
    expect(await bodiesOf(stage)).toEqual(['1'])
  })

  test('replaces it under a new id, with a new time, or with the old one', async () => {
    const stage = setBus()
    const first = await stage.bus.send(remind('1'), { deliverAfter: HOUR_MS, key: KEY })
    const second = await stage.bus.send(remind('2'), { deliverAfter: DAY_MS, key: KEY, ifScheduled: 'replace' })
    expect(second.messageId).not.toBe(first.messageId)
    expect(second.dueAt).toBe(stage.startAt + DAY_MS)
    expect(stage.events.slice(-2)).toMatchObject([
      { type: 'replaced', messageId: first.messageId, by: second.messageId },
      { type: 'scheduled', messageId: second.messageId },
    ])
    const third = await stage.bus.send(remind('3'), { deliverAfter: 5, key: KEY, ifScheduled: 'replace-payload' })
    expect(third.dueAt).toBe(second.dueAt)
    expect(parseHandle(third.recallHandle)).toMatchObject({ rowId: third.messageId, dueAt: second.dueAt })
    for (const { recallHandle = '' } of [first, second])
      expect((await stage.bus.recall(recallHandle)).outcome).toBe('already-recalled')
    expect(await bodiesOf(stage)).toEqual(['3'])
  })

  test('is refused where asked, with what is scheduled in the details', async () => {
    const stage = setBus()
    const { messageId, dueAt } = await stage.bus.send(remind('1'), { deliverAfter: HOUR_MS, key: KEY })
    const again = stage.bus.send(remind('2'), { deliverAfter: 5, key: KEY, ifScheduled: 'reject' })
    expect(await refusalOf(again)).toMatchObject({ code: 'key.taken', details: { key: KEY, messageId, dueAt } })
    expect(await refusalOf(again)).not.toHaveProperty('details.receipt')
    expect(await bodiesOf(stage)).toEqual(['1'])
  })

  test('for a time that has passed goes through the store all the same, due now', async () => {
    const stage = setBus()
    await stage.bus.send(remind('1'), { deliverAfter: HOUR_MS, key: KEY })
    const past = { deliverAt: new Date(stage.startAt - 1), key: KEY }
    expect(await stage.bus.send(remind('2'), past)).toMatchObject({ duplicate: true })
    const now = await stage.bus.send(remind('3'), { ...past, ifScheduled: 'replace' })
    expect(now).toMatchObject({ status: 'scheduled', dueAt: stage.startAt })
    expect(stage.sent).toEqual([])
    expect(await bodiesOf(stage)).toEqual(['3'])
  })

  test.each([
    [{ key: KEY }, 'options.invalid'],
    [{ key: '', deliverAfter: 1 }, 'options.invalid'],
    [{ key: 'x'.repeat(257), deliverAfter: 1 }, 'options.invalid'],
    [{ key: 'a\nb', deliverAfter: 1 }, 'options.invalid'],
    [{ key: undefined, deliverAfter: 1 }, 'options.invalid'],
    [{ key: 5, deliverAfter: 1 }, 'options.invalid'],
    [{ key: KEY, deliverAfter: 1, ifScheduled: 'debounce' }, 'options.invalid'],
    [{ ifScheduled: 'keep', deliverAfter: 1 }, 'options.invalid'],
    [{ kye: KEY, deliverAfter: 1 }, 'options.unknown'],
  ])('with %j is refused', async (options, code) => {
    const stage = setBus()
    expect(await refusalOf(stage.bus.send(remind('1'), options as never))).toMatchObject({ code })
    expect(await stage.rowsLeft()).toEqual([])
  })

  test('on a persistence without keys is refused before anything is stored', async () => {
    const { keys: _, ...persistence } = memoryPersistence()
    const { bus } = setBus({ persistence })
    const refusal = { code: 'persistence.keys-not-supported', details: { persistence: 'memory' } }
    expect(await refusalOf(bus.send(remind('1'), { deliverAfter: 1, key: KEY }))).toMatchObject(refusal)
    expect(await refusalOf(bus.recallByKey(KEY))).toMatchObject(refusal)
  })

  test('that the store could not make, carries its receipt', async () => {
    const memory = memoryPersistence()
    const keys = { ...memory.keys, storeUnderKey: () => Promise.reject(new Error('gone')) }
    const { bus } = setBus({ persistence: { ...memory, keys } })
    const send = bus.send(remind('1'), { deliverAfter: HOUR_MS, key: KEY, messageId: 'own' })
    expect(await refusalOf(send)).toMatchObject({
      code: 'persistence.unavailable',
      retryable: true,
      details: { receipt: { messageId: 'own', recallHandle: expect.any(String) } },
    })
  })

  test('of many, each has its own outcome; those of one key go in order', async () => {
    const stage = setBus()
    const outcomes = await stage.bus.sendAll([
      { message: remind('1'), deliverAfter: HOUR_MS, key: 'a' },
      { message: remind('2'), deliverAfter: HOUR_MS },
      { message: remind('3'), deliverAfter: HOUR_MS, key: 'a', ifScheduled: 'replace' },
      { message: remind('4'), deliverAfter: HOUR_MS, key: 'a' },
      { message: remind('5'), deliverAfter: HOUR_MS, key: 'a', ifScheduled: 'reject' },
      { message: remind('6'), deliverAfter: HOUR_MS, key: 'b' },
    ])
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...['scheduled', 'scheduled', 'scheduled', 'scheduled', 'failed', 'scheduled'],
    ])
    expect(outcomes[3]).toMatchObject({ duplicate: true, messageId: (outcomes[2] as { messageId: string }).messageId })
    expect((await bodiesOf(stage)).sort()).toEqual(['2', '3', '6'])
  })
})

describe('a recall by key', () => {
  test('withdraws what is scheduled, and frees the key', async () => {
    const stage = setBus()
    const { messageId, dueAt } = await stage.bus.send(remind('1'), { deliverAfter: HOUR_MS, key: KEY })
    expect(await stage.bus.recallByKey(KEY)).toEqual({ outcome: 'recalled', messageId, dueAt })
    expect(await stage.bus.recallByKey(KEY)).toEqual({ outcome: 'already-recalled', messageId, dueAt })
    const again = await stage.bus.send(remind('2'), { deliverAfter: HOUR_MS, key: KEY })
    expect(again.messageId).not.toBe(messageId)
    expect(again.duplicate).toBeUndefined()
  })

  test('finds nothing under a key that was never used', async () => {
    expect(await setBus().bus.recallByKey(KEY)).toEqual({ outcome: 'not-found' })
  })

  test('is refused for what is no key, and on a bus that takes nothing back', async () => {
    expect(await refusalOf(setBus().bus.recallByKey(''))).toMatchObject({ code: 'options.invalid' })
    expect(await refusalOf(setBus({ recall: false }).bus.recallByKey(KEY))).toMatchObject({
      code: 'recall.switched-off',
    })
  })

  test('withdraws the message that replaces another at this very moment', async () => {
    const stage = setBus()
    const { store } = stage
    let other: Bus | undefined
    const keys = {
      ...store.keys,
      findKey: async (key: string) => {
        const found = await store.keys.findKey(key)
        const bus = other
        other = undefined
        await bus?.send(remind('2'), { deliverAfter: HOUR_MS, key: KEY, ifScheduled: 'replace' })
        return found
      },
    }
    const { bus } = setBus({ persistence: { ...store, keys }, share: stage })
    const { messageId } = await bus.send(remind('1'), { deliverAfter: HOUR_MS, key: KEY })
    other = stage.bus
    const recalled = await bus.recallByKey(KEY)
    expect(recalled.outcome).toBe('recalled')
    expect(recalled.messageId).not.toBe(messageId)
    expect(await stage.rowsLeft()).toEqual([])
  })
})

describe('keys in a context', () => {
  test('are kept at the flush, in the order of the sends', async () => {
    const stage = setBus()
    const { context, flush } = stage.bus.openContext()
    const options = { deliverAfter: HOUR_MS, key: KEY }
    expect((await context.send(remind('1'), options)).status).toBe('buffered')
    await context.send(remind('2'), { ...options, ifScheduled: 'replace' })
    await context.send(remind('3'), options)
    expect(await stage.rowsLeft()).toEqual([])
    await flush()
    expect(await bodiesOf(stage)).toEqual(['2'])
  })

  test('are taken back from the buffer and from the store', async () => {
    const stage = setBus()
    await stage.bus.send(remind('1'), { deliverAfter: HOUR_MS, key: KEY })
    const { context, flush } = stage.bus.openContext()
    const buffered = await context.send(remind('2'), { deliverAfter: HOUR_MS, key: KEY, ifScheduled: 'replace' })
    await context.send(remind('3'), { deliverAfter: HOUR_MS, key: 'other' })
    expect((await context.recallByKey(KEY)).outcome).toBe('recalled')
    const again = await context.send(remind('4'), { deliverAfter: HOUR_MS, key: KEY })
    expect(await context.recallByKey(KEY)).toEqual({
      outcome: 'recalled',
      messageId: again.messageId,
      dueAt: again.dueAt,
    })
    expect(buffered.status).toBe('buffered')
    await flush()
    expect(await bodiesOf(stage)).toEqual(['3'])
  })
})
