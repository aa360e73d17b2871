import { describe, expect, test } from 'vitest'
import type { HandlerContext, MessageContext } from '../../lib/core/context.js'
import { defineReceiver, handlerFor } from '../../lib/core/receiver.js'
import { ROUTE_ATTRIBUTE, toWire } from '../../lib/core/wire.js'
import { OrderPlaced, RemindPayment, refusalOf, setBus, setReceivingBus } from './bus-stage.js'
import { envelopeOf, failAll, publishAll } from './dispatch/stage.js'
import { handleWith, recordOf, remind } from './handler-stage.js'

describe('a message that waited', () => {
  test('arrives with conversation, sticky attributes, headers and falsy values, and middleware ran once', async () => {
    const runs: string[] = []
    const received: HandlerContext[] = []
    const bodies: unknown[] = []
    const { bus, clock } = setReceivingBus((transport) => {
      const receiver = defineReceiver('billing', [
        handlerFor(RemindPayment, (message, ctx) => {
          bodies.push(message)
          received.push(ctx)
        }),
      ])
      return {
        outgoing: [
          (draft) => {
            runs.push(draft.message.$name)
            Object.assign(draft.headers, { traceparent: '00-1', empty: '' })
          },
        ],
        receivers: [{ receiver, source: transport.source('billing', ['orders/remind']) }],
      }
    })
    await bus.start()
    const values = { zero: 0, no: false, empty: '', none: null, text: 'Zürich 🚀' }
    const { messageId, dueAt } = await bus.send(
      { ...remind('42'), ...values },
      { deliverAfter: 60_000, correlationId: 'conversation', attributes: values, stickyAttributes: values },
    )
    await clock.advanceBy(60_000)
    await bus.stop()
    expect(bodies).toEqual([{ $name: 'orders/remind', $version: 1, orderId: '42', ...values }])
    expect(received).toMatchObject([
      {
        messageId,
        correlationId: 'conversation',
        attributes: values,
        stickyAttributes: values,
        headers: { traceparent: '00-1', empty: '' },
        dueAt,
        latenessMs: 0,
        attempt: 1,
      },
    ])
    expect(runs).toEqual(['orders/remind'])
  })

  test('hands conversation and sticky attributes on to what its handler sends, delayed and at once', async () => {
    const { bus, sent, rowsLeft } = setBus()
    const record = recordOf('incoming', { correlationId: 'conversation', stickyAttributes: { tenant: 'a', zero: 0 } })
    const envelopes: unknown[] = []
    const watching = setBus({
      answer: (batch, nth) => {
        envelopes.push(...batch.map(({ envelope }) => envelope))
        return publishAll(batch, nth)
      },
    })
    const sendBoth = async (ctx: HandlerContext) => {
      await ctx.send(remind('delayed'), { deliverAfter: 5_000, stickyAttributes: { own: false } })
      await ctx.publish(OrderPlaced({ orderId: 'now' }))
    }
    await handleWith(bus, sendBoth, [record])
    expect(sent).toHaveLength(1)
    const [claim] = await rowsLeft()
    expect(claim?.envelope).toMatchObject({
      correlationId: 'conversation',
      stickyAttributes: { tenant: 'a', zero: 0, own: false },
    })
    await handleWith(watching.bus, sendBoth, [record])
    expect(envelopes).toMatchObject([{ correlationId: 'conversation', stickyAttributes: { tenant: 'a', zero: 0 } }])
  })
})

describe('a handler', () => {
  const sendThree = async (ctx: MessageContext) => {
    const receipts = [
      await ctx.send(remind('1')),
      await ctx.send(remind('2'), { deliverAfter: 5_000 }),
      await ctx.publish(OrderPlaced({ orderId: '3' })),
    ]
    expect(receipts.map(({ status }) => status)).toEqual(['buffered', 'buffered', 'buffered'])
    return receipts
  }

  test('that throws has sent nothing, and its record fails', async () => {
    const { bus, sent, rowsLeft } = setBus()
    const failed = await handleWith(bus, async (ctx) => {
      await sendThree(ctx)
      throw new Error('no such order')
    })
    expect(failed).toEqual(['record of incoming'])
    expect(sent).toEqual([])
    expect(await rowsLeft()).toEqual([])
  })

  test('that resolves has sent all, delayed and at once, and nothing before it resolved', async () => {
    const { bus, sent, rowsLeft } = setBus()
    const failed = await handleWith(bus, async (ctx) => {
      await sendThree(ctx)
      expect(sent).toEqual([])
      expect(await rowsLeft()).toEqual([])
    })
    expect(failed).toEqual([])
    expect(sent).toHaveLength(2)
    expect(await rowsLeft()).toHaveLength(1)
  })

  test('that is run again repeats its ids, and what it had stored is stored once', async () => {
    const { bus, clock, sent, rowsLeft, startAt } = setBus()
    const deliverAt = new Date(startAt + 60_000)
    const run = (ctx: HandlerContext) =>
      Promise.all([ctx.send(remind('1')), ctx.send(remind('1')), ctx.send(remind('2'), { deliverAt })])
    const seen: string[][] = []
    for (let runs = 0; runs < 2; runs++) {
      await handleWith(bus, async (ctx) => void seen.push((await run(ctx)).map(({ messageId }) => messageId)))
      await clock.advanceBy(1_000)
    }
    expect(seen[0]).toEqual(seen[1])
    expect(new Set(seen[0]).size).toBe(3)
    expect(sent.map(({ id }) => id)).toEqual([...(seen[0] ?? []).slice(0, 2), ...(seen[0] ?? []).slice(0, 2)])
    expect(await rowsLeft()).toHaveLength(1)
  })

  test('of another receiver, or of another message, has other ids for equal sends', async () => {
    const { bus } = setBus()
    const ids: string[] = []
    const run = async (ctx: HandlerContext) => void ids.push((await ctx.send(remind('1'))).messageId)
    await handleWith(bus, run)
    await handleWith(bus, run, [recordOf('another')])
    await handleWith(bus, run, [recordOf('incoming')], 'audit')
    expect(new Set(ids).size).toBe(3)
  })

  test('that sends after it has ended is told so, wherever it had come to', async () => {
    const { bus, sent, rowsLeft } = setBus({ outgoing: [async () => new Promise((resolve) => setImmediate(resolve))] })
    const late: Promise<unknown>[] = []
    let kept: HandlerContext | undefined
    await handleWith(bus, (ctx) => {
      kept = ctx
      late.push(refusalOf(ctx.send(remind('not awaited'))))
    })
    late.push(refusalOf(kept?.publish(OrderPlaced({ orderId: 'late' })) ?? Promise.resolve()))
    for (const error of await Promise.all(late)) expect(error).toMatchObject({ code: 'context.closed' })
    expect(sent).toEqual([])
    expect(await rowsLeft()).toEqual([])
  })

  test('whose send was recalled after its first run leaves it recalled when it runs again', async () => {
    const { bus, events, rowsLeft, startAt } = setBus()
    const deliverAt = new Date(startAt + 60_000)
    let recallHandle = ''
    const run = async (ctx: HandlerContext) => {
      recallHandle = (await ctx.send(remind('1'), { deliverAt })).recallHandle ?? ''
    }
    await handleWith(bus, run)
    await bus.recall(recallHandle)
    expect(await handleWith(bus, run)).toEqual([])
    expect(await rowsLeft()).toEqual([])
    expect(events.filter(({ type }) => type === 'send-stayed-recalled')).toHaveLength(1)
  })
})

describe('a recall in a handler', () => {
  test('of a buffered message takes it out of the buffer, with every copy of its id', async () => {
    const { bus, rowsLeft, startAt } = setBus()
    const options = { messageId: 'reminder-42', deliverAt: new Date(startAt + 60_000) }
    await handleWith(bus, async (ctx) => {
      const { recallHandle = '' } = await ctx.send(remind('1'), options)
      await ctx.send(remind('1'), options)
      await ctx.send(remind('2'), { deliverAfter: 5_000 })
      expect(await ctx.recall(recallHandle)).toEqual({
        outcome: 'recalled',
        messageId: 'reminder-42',
        dueAt: startAt + 60_000,
      })
    })
    const rows = await rowsLeft()
    expect(rows).toHaveLength(1)
    expect(rows[0]?.envelope).toMatchObject({ body: JSON.stringify(remind('2')) })
  })

  test('of a stored message acts at once, whatever the handler does later', async () => {
    const { bus, rowsLeft } = setBus()
    const { recallHandle = '' } = await bus.send(remind('1'), { deliverAfter: 60_000 })
    await handleWith(bus, async (ctx) => {
      expect(await ctx.recall(recallHandle)).toMatchObject({ outcome: 'recalled' })
      throw new Error('no such order')
    })
    expect(await rowsLeft()).toEqual([])
  })

  test('of what is no handle is an error of the handler', async () => {
    const { bus } = setBus()
    await handleWith(bus, async (ctx) => {
      expect(await refusalOf(ctx.recall('reminder-42'))).toMatchObject({ code: 'recall.malformed-handle' })
    })
  })
})

describe('a context that no message opened', () => {
  test('sends what was buffered when it is flushed, once, under ids of its own', async () => {
    const { bus, sent, rowsLeft } = setBus()
    const { context, flush } = bus.openContext()
    const now = await context.send(remind('1'))
    const same = await context.send(remind('1'))
    const later = await context.publish(OrderPlaced({ orderId: '1' }), { deliverAfter: 5_000 })
    expect(sent).toEqual([])
    await flush()
    await flush()
    expect(sent.map(({ id }) => id)).toEqual([now.messageId, same.messageId])
    expect(now.messageId).not.toBe(same.messageId)
    expect((await rowsLeft()).map(({ rowId }) => rowId)).toEqual([later.messageId])
    expect(await refusalOf(context.send(remind('2')))).toMatchObject({ code: 'context.closed' })
  })

  test('sends nothing when it is discarded', async () => {
    const { bus, sent } = setBus()
    const { context, flush, discard } = bus.openContext()
    await context.send(remind('1'))
    discard()
    await flush()
    expect(sent).toEqual([])
    expect(await refusalOf(context.send(remind('2')))).toMatchObject({ code: 'context.closed' })
  })

  test('raises the error of the first message that did not go, with its receipt', async () => {
    const { bus, clock } = setBus({ answer: failAll('topic') })
    const { context, flush } = bus.openContext()
    const { messageId } = await context.send(remind('1'))
    expect(await clock.runUntil(refusalOf(flush()))).toMatchObject({
      code: 'transport.unavailable',
      details: { receipt: { messageId } },
    })
  })

  test('refuses a delayed send where durable is required, when it is sent', async () => {
    const { bus } = setBus()
    const { context } = bus.openContext({ requireDurable: true })
    expect(await refusalOf(context.send(remind('1'), { deliverAfter: 5 }))).toMatchObject({
      code: 'persistence.not-durable',
    })
  })
})

describe('a redelivered message', () => {
  test('tells its handler which attempt it is', async () => {
    const { bus } = setBus()
    const wire = toWire(envelopeOf('incoming', JSON.stringify(remind('42'))), { attempt: 3, target: 'billing' })
    expect(wire.attributes[ROUTE_ATTRIBUTE]).toBe('@billing')
    const attempts: number[] = []
    await handleWith(bus, (ctx) => void attempts.push(ctx.attempt), [{ recordId: 'r', ...wire }])
    expect(attempts).toEqual([3])
  })
})
