import { describe, expect, test } from 'vitest'
import { PostdateError } from '../../lib/core/errors.js'
import { defineReceiver, handlerFor } from '../../lib/core/receiver.js'
import type { SendEntry, SendOutcome } from '../../lib/core/send-all.js'
import { toWire } from '../../lib/core/wire.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { OrderPlaced, RemindPayment, refusalOf, setBus } from './bus-stage.js'
import { envelopeOf, failAll } from './dispatch/stage.js'

const remind = (orderId: string) => RemindPayment({ orderId })

const codesOf = (outcomes: readonly SendOutcome[]) =>
  outcomes.map((outcome) =>
    outcome.status === 'failed'
      ? outcome.error instanceof PostdateError
        ? outcome.error.code
        : outcome.error.message
      : outcome.status,
  )

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('many messages', () => {
  test('have a time and an outcome each, in their order', async () => {
    const { bus, sent, rowsLeft, startAt } = setBus()
    const outcomes = await bus.sendAll([
      { message: remind('1') },
      { message: remind('2'), deliverAfter: { minutes: 5 } },
      { message: remind('3'), deliverAt: new Date(startAt + 1_000), messageId: 'three' },
      { message: remind('4'), delayLevel: 3, attributes: { tenant: 'acme' } },
      { message: remind('5'), deliverAt: new Date(startAt - 1) },
    ])
    expect(outcomes).toEqual([
      { status: 'sent', messageId: expect.any(String) },
      {
        status: 'scheduled',
        messageId: expect.any(String),
        dueAt: startAt + 300_000,
        recallHandle: expect.any(String),
      },
      { status: 'scheduled', messageId: 'three', dueAt: startAt + 1_000, recallHandle: expect.any(String) },
      { status: 'scheduled', messageId: expect.any(String), dueAt: startAt + 10_000, recallHandle: expect.any(String) },
      { status: 'sent', messageId: expect.any(String) },
    ])
    expect(sent).toHaveLength(2)
    const rows = await rowsLeft()
    expect(rows.map(({ dueAt }) => dueAt)).toEqual([startAt + 1_000, startAt + 10_000, startAt + 300_000])
    expect(rows[1]?.envelope).toMatchObject({ kind: 'command', attributes: { tenant: 'acme' } })
  })

  test('whose time is said by a class are delayed as in a send of one', async () => {
    const { bus, sent, startAt } = setBus()
    class Reminder {
      readonly message = remind('1')
      get deliverAt() {
        return new Date(startAt + 5_000)
      }
    }
    expect(await bus.sendAll([new Reminder()])).toMatchObject([{ status: 'scheduled', dueAt: startAt + 5_000 }])
    expect(sent).toEqual([])
  })

  test('that are events travel as events', async () => {
    const { bus, rowsLeft } = setBus()
    await bus.publishAll([{ message: OrderPlaced({ orderId: '1' }), deliverAfter: 5 }])
    expect((await rowsLeft())[0]?.envelope).toMatchObject({ kind: 'event', name: 'orders/placed' })
  })

  test('are sent though others are refused, each for its own reason', async () => {
    const { bus, sent, rowsLeft } = setBus({
      outgoing: [
        ({ message }) => {
          if ('note' in message && message.note === 'broken') throw new Error('no trace')
        },
      ],
    })
    const bad = [
      { message: remind('2'), deliverAfter: -1 },
      { message: remind('3'), deliverIn: 5 },
      { message: { ...remind('4'), at: new Date(0) } },
      { message: RemindPayment({ orderId: '5', note: 'x'.repeat(300_000) }), deliverAfter: 5 },
      { message: RemindPayment({ orderId: '6', note: 'broken' }) },
      remind('7'),
      null,
      { message: remind('8'), deliverAfter: undefined },
    ] as unknown as SendEntry[]
    const outcomes = await bus.sendAll([{ message: remind('1') }, ...bad, { message: remind('9'), deliverAfter: 5 }])
    expect(codesOf(outcomes)).toEqual([
      'sent',
      'schedule.invalid-duration',
      'options.unknown',
      'message.not-plain-json',
      'message.too-large',
      'no trace',
      'options.invalid',
      'options.invalid',
      'schedule.missing-value',
      'scheduled',
    ])
    expect(sent).toHaveLength(1)
    expect(await rowsLeft()).toHaveLength(1)
  })

  test('that go at once are packed into as few requests as the limits allow', async () => {
    const { bus, requests } = setBus()
    await bus.sendAll(upTo(95).map((number) => ({ message: remind(String(number)) })))
    expect(requests.map(({ ids }) => ids.length)).toEqual([10, 10, 10, 10, 10, 10, 10, 10, 10, 5])
  })

  test('that are delayed go to the store in one call, after one look at the shard counts', async () => {
    const store = memoryPersistence({ shards: 4 })
    const calls: string[] = []
    const { bus } = setBus({
      persistence: {
        ...store,
        coordination: {
          ...store.coordination,
          readShards: async () => {
            calls.push('readShards')
            return store.coordination.readShards()
          },
        },
        storeOutgoingMessages: async (messages) => {
          calls.push(`store ${messages.length}`)
          return store.storeOutgoingMessages(messages)
        },
      },
    })
    await bus.sendAll(upTo(1_000).map((number) => ({ message: remind(String(number)), deliverAfter: 60_000 })))
    expect(calls).toEqual(['readShards', 'store 1000'])
  })

  test('of which the store fails some are published all the same where they go at once', async () => {
    const store = memoryPersistence()
    const { bus, sent } = setBus({
      persistence: {
        ...store,
        storeOutgoingMessages: async (messages) => {
          const stored = await store.storeOutgoingMessages(messages)
          return stored.map((outcome, index) => (index === 0 ? { outcome: 'conflict' } : outcome))
        },
      },
    })
    const outcomes = await bus.sendAll([
      { message: remind('1'), deliverAfter: 5 },
      { message: remind('2'), deliverAfter: 5 },
      { message: remind('3') },
    ])
    expect(codesOf(outcomes)).toEqual(['message.id-conflict', 'scheduled', 'sent'])
    expect(sent).toHaveLength(1)
  })

  test('in doubt carry their own receipts', async () => {
    const { bus, startAt } = setBus({
      persistence: {
        ...memoryPersistence(),
        storeOutgoingMessages: async () => {
          throw new Error('ECONNRESET')
        },
      },
    })
    const outcomes = await bus.sendAll(
      ['a', 'b'].map((messageId) => ({ message: remind(messageId), messageId, deliverAfter: 5 })),
    )
    expect(outcomes).toMatchObject(
      ['a', 'b'].map((messageId) => ({
        status: 'failed',
        error: {
          code: 'persistence.unavailable',
          details: { receipt: { messageId, dueAt: startAt + 5, recallHandle: expect.any(String) } },
        },
      })),
    )
  })

  test('that the topic refuses are told so one by one', async () => {
    const { bus } = setBus({ answer: failAll('message') })
    expect(codesOf(await bus.sendAll([{ message: remind('1') }, { message: remind('2') }]))).toEqual([
      'transport.refused',
      'transport.refused',
    ])
  })

  test('may be none, must be a list, and are refused by a stopped bus', async () => {
    const { bus } = setBus()
    expect(await bus.sendAll([])).toEqual([])
    for (const none of [undefined, null, { message: remind('1') }, new Set()] as unknown as readonly SendEntry[][])
      expect(await refusalOf(bus.sendAll(none))).toMatchObject({ code: 'options.invalid' })
    await bus.stop()
    expect(await refusalOf(bus.sendAll([]))).toMatchObject({ code: 'bus.stopped' })
  })

  test('warn once that memory is not durable', async () => {
    const { bus, warnings } = setBus()
    await bus.sendAll(upTo(3).map(() => ({ message: remind('1'), deliverAfter: 5 })))
    expect(warnings()).toEqual([expect.stringContaining('a restart of this process loses them')])
  })
})

describe('many messages of a handler', () => {
  const handleWith = async (bus: ReturnType<typeof setBus>['bus'], entries: readonly SendEntry[], fails = false) => {
    let outcomes: readonly SendOutcome[] = []
    const receiver = defineReceiver('billing', [
      handlerFor(RemindPayment, async (_message, ctx) => {
        outcomes = await ctx.sendAll(entries)
        await ctx.publishAll([{ message: OrderPlaced({ orderId: '1' }) }])
        if (fails) throw new Error('no')
      }),
    ])
    const wire = toWire(envelopeOf('incoming', JSON.stringify(remind('42'))), { attempt: 1 })
    await bus.handleRecords([{ recordId: 'r', ...wire }], receiver)
    return outcomes
  }

  const entries: readonly SendEntry[] = [
    { message: remind('1') },
    { message: remind('1') },
    { message: remind('2'), deliverAfter: -1 },
    { message: remind('3'), deliverAfter: 60_000 },
  ]

  test('are buffered, and go out when it has resolved; what was refused is a value', async () => {
    const { bus, sent, rowsLeft } = setBus()
    expect(codesOf(await handleWith(bus, entries))).toEqual([
      'buffered',
      'buffered',
      'schedule.invalid-duration',
      'buffered',
    ])
    expect(sent).toHaveLength(3)
    expect(await rowsLeft()).toHaveLength(1)
  })

  test('have the same ids in every run, and equal ones different ids', async () => {
    const idsOf = async () =>
      (await handleWith(setBus().bus, entries)).flatMap((outcome) =>
        outcome.status === 'failed' ? [] : [outcome.messageId],
      )
    const ids = await idsOf()
    expect(await idsOf()).toEqual(ids)
    expect(new Set(ids).size).toBe(3)
  })

  test('are dropped when it throws', async () => {
    const { bus, sent, rowsLeft } = setBus()
    await handleWith(bus, entries, true)
    expect(sent).toEqual([])
    expect(await rowsLeft()).toEqual([])
  })
})
