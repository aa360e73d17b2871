import { describe, expect, test } from 'vitest'
import { DelayedDeliveryNotSupported } from '../../lib/core/errors.js'
import { parseHandle } from '../../lib/core/handle.js'
import type { Persistence } from '../../lib/core/persistence.js'
import { REDELIVERY_RESERVE_BYTES } from '../../lib/core/prepare.js'
import { fromWire, toWire } from '../../lib/core/wire.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { OrderPlaced, RemindPayment, refusalOf, setBus } from './bus-stage.js'

const remind = RemindPayment({ orderId: '42' })

describe('a send', () => {
  test('without a schedule is published at once, and its receipt says sent', async () => {
    const { bus, sent, rowsLeft, startAt } = setBus()
    const receipt = await bus.send(remind)
    expect(receipt).toEqual({ status: 'sent', messageId: expect.any(String) })
    expect(sent).toEqual([{ at: startAt, id: receipt.messageId, dueAt: undefined }])
    expect(await rowsLeft()).toEqual([])
  })

  test('with a schedule is stored, and its receipt has the due instant and a handle', async () => {
    const { bus, sent, rowsLeft, startAt } = setBus()
    const receipt = await bus.send(remind, { deliverAfter: { minutes: 5 } })
    const dueAt = startAt + 300_000
    expect(receipt).toEqual({
      status: 'scheduled',
      messageId: expect.any(String),
      dueAt,
      recallHandle: expect.stringMatching(/^pd1_/),
    })
    expect(parseHandle(receipt.recallHandle)).toEqual({ bus: 'orders', shard: 0, dueAt, rowId: receipt.messageId })
    expect(sent).toEqual([])
    expect(await rowsLeft()).toMatchObject([{ rowId: receipt.messageId, dueAt }])
  })

  test('of an event travels as one', async () => {
    const { bus, rowsLeft } = setBus()
    await bus.publish(OrderPlaced({ orderId: '42' }), { deliverAfter: 5 })
    const [row] = await rowsLeft()
    expect(row?.envelope).toMatchObject({ kind: 'event', name: 'orders/placed' })
  })

  test.each([
    ['now', 0],
    ['a millisecond ago', -1],
    ['a year ago', -365 * 86_400_000],
  ])('due %s is sent at once, and its receipt says so', async (_when, inMs) => {
    const { bus, sent, startAt } = setBus()
    const receipt = await bus.send(remind, { deliverAt: new Date(startAt + inMs) })
    expect(receipt.status).toBe('sent')
    expect(receipt).not.toHaveProperty('recallHandle')
    expect(sent).toHaveLength(1)
  })

  test('due in the past is refused where the bus is told to, and nothing is stored or sent', async () => {
    const { bus, sent, rowsLeft, startAt } = setBus({ pastDue: 'reject' })
    expect(await refusalOf(bus.send(remind, { deliverAt: new Date(startAt - 1) }))).toMatchObject({
      code: 'schedule.in-the-past',
    })
    expect((await bus.send(remind, { deliverAt: new Date(startAt) })).status).toBe('sent')
    expect(sent).toHaveLength(1)
    expect(await rowsLeft()).toEqual([])
  })

  test('beyond the horizon is refused, and the last instant of it is not', async () => {
    const { bus, rowsLeft, startAt } = setBus({ horizon: 60_000 })
    expect(await refusalOf(bus.send(remind, { deliverAfter: 60_001 }))).toMatchObject({
      code: 'schedule.beyond-horizon',
      details: { dueAt: startAt + 60_001, limitAt: startAt + 60_000, horizonMs: 60_000 },
    })
    expect((await bus.send(remind, { deliverAfter: 60_000 })).status).toBe('scheduled')
    expect(await rowsLeft()).toHaveLength(1)
  })

  test('with a misspelt option is refused, where it would have gone at once', async () => {
    const { bus, sent } = setBus()
    const options = { deliverafter: 5_000 } as object
    expect(await refusalOf(bus.send(remind, options))).toMatchObject({
      code: 'options.unknown',
      details: { nearest: 'deliverAfter' },
    })
    const none: unknown = null
    expect(await refusalOf(bus.send(remind, none as object))).toMatchObject({ code: 'options.invalid' })
    expect(sent).toEqual([])
  })
})

describe('the warning that memory is not durable', () => {
  test('is given once, over three delayed sends, and not for immediate ones', async () => {
    const { bus, warnings } = setBus()
    await bus.send(remind)
    expect(warnings()).toEqual([])
    for (let sends = 0; sends < 3; sends++) await bus.send(remind, { deliverAfter: 5_000 })
    expect(warnings()).toHaveLength(1)
    expect(warnings()[0]).toContain('memory')
    expect(warnings()[0]).toContain('dynamoDbPersistence({ tableName })')
  })

  test('is not given for a durable persistence', async () => {
    for (const durable of [true, undefined]) {
      const { durable: _, ...rest } = memoryPersistence()
      const persistence = { ...rest, ...(durable !== undefined && { durable }) }
      const { bus, lines } = setBus({ persistence })
      await bus.send(remind, { deliverAfter: 5_000 })
      expect(lines).toEqual([])
    }
  })

  test('is an error where durable is required, and immediate sends still go', async () => {
    const { bus, rowsLeft, sent } = setBus({ requireDurable: true })
    expect(await refusalOf(bus.send(remind, { deliverAfter: 5_000 }))).toMatchObject({
      code: 'persistence.not-durable',
    })
    await bus.send(remind)
    expect(sent).toHaveLength(1)
    expect(await rowsLeft()).toEqual([])
  })
})

describe('a persistence that can not delay', () => {
  test.each<[string, Persistence]>([
    ['has no methods', { name: 'sagas' }],
    [
      'can store and never claim',
      { name: 'sagas', storeOutgoingMessages: async (all) => all.map(() => ({ outcome: 'stored' })) },
    ],
  ])('and %s refuses a delayed send by its name, with the fix, and sends the others', async (_what, persistence) => {
    const { bus, sent } = setBus({ persistence })
    const error = await refusalOf(bus.send(remind, { deliverAfter: 5_000 }))
    expect(error).toBeInstanceOf(DelayedDeliveryNotSupported)
    expect(error).toMatchObject({
      code: 'persistence.delayed-delivery-not-supported',
      details: { persistence: 'sagas', name: 'orders/remind' },
      help: expect.stringContaining('dynamoDbPersistence'),
    })
    expect((await bus.send(remind)).status).toBe('sent')
    expect(sent).toHaveLength(1)
    await bus.start()
    await bus.stop()
  })
})

describe('an own messageId', () => {
  const options = { messageId: 'reminder-42', deliverAt: new Date(Date.UTC(2030, 0, 2)) }

  test('sent twice with the same content and time is one row, and both receipts say so', async () => {
    const { bus, rowsLeft } = setBus()
    const receipts = [await bus.send(remind, options), await bus.send(remind, options)]
    expect(receipts[0]).toEqual(receipts[1])
    expect(receipts[0]).toMatchObject({ status: 'scheduled', messageId: 'reminder-42' })
    expect(await rowsLeft()).toHaveLength(1)
  })

  test('met with other content is a conflict, without the handle of the other message', async () => {
    const { bus, rowsLeft } = setBus()
    await bus.send(remind, options)
    const error = await refusalOf(bus.send(RemindPayment({ orderId: '43' }), options))
    expect(error).toMatchObject({
      code: 'message.id-conflict',
      details: { messageId: 'reminder-42', dueAt: options.deliverAt.getTime() },
    })
    expect(error).not.toHaveProperty('details.receipt')
    const rows = await rowsLeft()
    expect(rows.map(({ envelope }) => envelope)).toMatchObject([{ body: expect.stringContaining('"42"') }])
  })

  test('that was recalled stays recalled, and the sender is told', async () => {
    const { bus, rowsLeft } = setBus()
    const { recallHandle = '' } = await bus.send(remind, options)
    expect(await bus.recall(recallHandle)).toMatchObject({ outcome: 'recalled', messageId: 'reminder-42' })
    expect(await refusalOf(bus.send(remind, options))).toMatchObject({ code: 'message.recalled' })
    expect(await rowsLeft()).toEqual([])
  })
})

describe('a message at the limit', () => {
  const noteOf = (length: number) => RemindPayment({ orderId: '42', note: 'x'.repeat(length) })
  /** The longest note that fits, found by the error's own count. */
  const longestNote = async (setUp: () => ReturnType<typeof setBus>, deliverAfter?: number): Promise<number> => {
    const options = deliverAfter === undefined ? {} : { deliverAfter }
    const error = await refusalOf(setUp().bus.send(noteOf(400_000), options))
    const { bytes, maxBytes } = (error as { details: { bytes: number; maxBytes: number } }).details
    return 400_000 - (bytes - maxBytes)
  }

  test.each([
    ['sent at once, of the transport', undefined, 'the transport scripted', 262_144],
    ['delayed, of the transport', 5_000, 'the transport scripted', 262_144],
  ])('%s is taken, and one byte more is refused by name', async (_what, deliverAfter, limit, bytes) => {
    const longest = await longestNote(setBus, deliverAfter)
    const options = deliverAfter === undefined ? {} : { deliverAfter }
    const { bus } = setBus()
    await bus.send(noteOf(longest), options)
    expect(await refusalOf(bus.send(noteOf(longest + 1), options))).toMatchObject({
      code: 'message.too-large',
      details: {
        name: 'orders/remind',
        bytes: bytes - REDELIVERY_RESERVE_BYTES + 1,
        maxBytes: bytes - REDELIVERY_RESERVE_BYTES,
        limit,
        biggest: expect.stringMatching(/^body \(\d+ bytes\)$/),
      },
    })
  })

  test('of the persistence is refused there when it is the smaller, and only when delayed', async () => {
    const setUp = () => setBus({ persistence: { ...memoryPersistence(), maxEnvelopeBytes: 10_000 } })
    const longest = await longestNote(setUp, 5_000)
    const { bus } = setUp()
    await bus.send(noteOf(longest), { deliverAfter: 5_000 })
    expect(await refusalOf(bus.send(noteOf(longest + 1), { deliverAfter: 5_000 }))).toMatchObject({
      code: 'message.too-large',
      details: { limit: 'the persistence memory', maxBytes: 10_000 - REDELIVERY_RESERVE_BYTES },
    })
    expect((await bus.send(noteOf(longest + 1))).status).toBe('sent')
  })

  test('counts attributes and what middleware adds', async () => {
    const { bus } = setBus({ outgoing: [(draft) => void Object.assign(draft.headers, { trace: 'x'.repeat(262_144) })] })
    expect(await refusalOf(bus.send(remind))).toMatchObject({
      code: 'message.too-large',
      details: { biggest: expect.stringMatching(/^headers/) },
    })
  })
})

describe('what is stored', () => {
  test('is what is published, falsy values included', async () => {
    const values = { zero: 0, no: false, empty: '', none: null }
    const { bus, rowsLeft } = setBus({
      outgoing: [(draft) => void Object.assign(draft.headers, { trace: '', span: '1' })],
    })
    const options = { attributes: values, stickyAttributes: values, correlationId: 'c', deliverAfter: 5 }
    await bus.send({ ...remind, ...values }, options)
    const [claim] = await rowsLeft()
    if (claim === undefined || typeof claim.envelope === 'string') throw new Error('no readable row')
    const { envelope } = fromWire(toWire(claim.envelope, { attempt: 1 }))
    expect(envelope).toMatchObject({
      correlationId: 'c',
      attributes: values,
      stickyAttributes: values,
      headers: { trace: '', span: '1' },
    })
    expect(JSON.parse(envelope.body)).toEqual({ ...remind, ...values })
  })
})
