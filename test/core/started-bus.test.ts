import { describe, expect, test } from 'vitest'
import { defineReceiver, handlerFor } from '../../lib/core/receiver.js'
import type { MessageSource } from '../../lib/core/transport.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { RemindPayment, refusalOf, setBus, setReceivingBus } from './bus-stage.js'
import { failAll, publishAll } from './dispatch/stage.js'

const remind = (orderId: string) => RemindPayment({ orderId })

describe('a started bus', () => {
  test('delivers what it scheduled at the exact millisecond, to a receiver that knows how late it is', async () => {
    const received: unknown[] = []
    const { bus, clock } = setReceivingBus((transport, time) => {
      const handler = handlerFor(RemindPayment, (message, ctx) => {
        received.push({ orderId: message.orderId, at: time.now(), dueAt: ctx.dueAt, latenessMs: ctx.latenessMs })
      })
      const receiver = defineReceiver('billing', [handler])
      return { receivers: [{ receiver, source: transport.source('billing', ['orders/remind']) }] }
    })
    await bus.start()
    await clock.advanceBy(777)
    const { dueAt } = await bus.send(remind('42'), { deliverAfter: 12_345 })
    await clock.advanceBy(12_344)
    expect(received).toEqual([])
    await clock.advanceBy(1)
    expect(received).toEqual([{ orderId: '42', at: dueAt, dueAt, latenessMs: 0 }])
    await bus.stop()
    expect(clock.pendingTimers()).toBe(0)
  })

  test('delivers within a poll what another bus on the store has scheduled for now', async () => {
    const { bus, clock, store, sent, startAt } = setBus()
    const other = setBus({ share: { clock, store } })
    await bus.start()
    await clock.advanceBy(2_500)
    await other.bus.send(remind('42'), { deliverAfter: 1 })
    await clock.advanceBy(2_000)
    await bus.stop()
    expect(sent.map(({ at }) => at - startAt)).toEqual([3_000])
  })

  test('shares one store with others, and each row is published once', async () => {
    const first = setBus()
    const { clock, store, startAt } = first
    const buses = [first, setBus({ share: { clock, store } }), setBus({ share: { clock, store } })]
    const sender = setBus({ sendOnly: true, share: { clock, store } })
    for (let sends = 0; sends < 1_000; sends++)
      await sender.bus.send(remind(`${sends}`), { deliverAfter: 1 + (sends % 5_000) })
    for (const { bus } of buses) await bus.start()
    await clock.advanceBy(10_000)
    for (const { bus } of buses) await bus.stop()
    const sent = buses.flatMap((one) => one.sent)
    expect(sent).toHaveLength(1_000)
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1_000)
    expect(sent.every(({ at, dueAt }) => at === dueAt && at >= startAt)).toBe(true)
    expect(sender.sent).toEqual([])
  })

  test('that only sends dispatches and receives nothing', async () => {
    const started: string[] = []
    const source: MessageSource = {
      name: 'billing',
      start: () => {
        started.push('billing')
        return async () => {}
      },
    }
    const receiver = defineReceiver('billing', [handlerFor(RemindPayment, () => {})])
    const { bus, clock, sent, rowsLeft } = setBus({ sendOnly: true, receivers: [{ receiver, source }] })
    await bus.start()
    await bus.send(remind('42'), { deliverAfter: 1_000 })
    await clock.advanceBy(60_000)
    await bus.stop()
    expect(sent).toEqual([])
    expect(started).toEqual([])
    expect(await rowsLeft()).toHaveLength(1)
    expect(clock.pendingTimers()).toBe(0)
  })

  test('starts once, and not after it was stopped', async () => {
    const { bus, clock } = setBus()
    await bus.start()
    expect(await refusalOf(bus.start())).toMatchObject({ code: 'bus.started-twice', details: { bus: 'orders' } })
    await bus.stop()
    expect(await refusalOf(bus.start())).toMatchObject({ code: 'bus.stopped' })
    expect(clock.pendingTimers()).toBe(0)
  })

  test('goes on when its topic fails and its store throws, and delivers everything once', async () => {
    const memory = memoryPersistence()
    let looks = 0
    const { bus, clock, sent, events } = setBus({
      persistence: {
        ...memory,
        claimDueOutgoingMessages: async (request) => {
          if (++looks % 3 === 0) throw new Error('throttled')
          return memory.claimDueOutgoingMessages(request)
        },
      },
      answer: (batch, nth) => (nth % 2 === 0 ? failAll('topic') : publishAll)(batch, nth),
    })
    await bus.start()
    for (let sends = 0; sends < 200; sends++) await bus.send(remind(`${sends}`), { deliverAfter: 100 * sends + 1 })
    await clock.advanceBy(300_000)
    await bus.stop()
    expect(new Set(sent.map(({ id }) => id)).size).toBe(200)
    expect(sent).toHaveLength(200)
    expect(events.some(({ type }) => type === 'dead')).toBe(false)
  })
})

describe('a stopped bus', () => {
  test('refuses sends with a typed error that names it, and stopping again is nothing', async () => {
    const { bus, sent } = setBus()
    await bus.stop()
    await bus.stop()
    for (const send of [bus.send(remind('1')), bus.publish(remind('1')), bus.send(remind('1'), { deliverAfter: 5 })]) {
      expect(await refusalOf(send)).toMatchObject({ code: 'bus.stopped', details: { bus: 'orders' } })
    }
    expect(sent).toEqual([])
  })

  test('has waited for sends that were on their way', async () => {
    const { bus, clock, sent } = setBus({
      answer: async (batch, nth) => {
        await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + 700, resolve))
        return publishAll(batch, nth)
      },
    })
    const sending = bus.send(remind('42'))
    await clock.advanceBy(1)
    await clock.runUntil(bus.stop())
    expect(sent).toHaveLength(1)
    expect((await sending).status).toBe('sent')
  })

  test('has waited for the handlers that were running, whose sends still go out', async () => {
    const { bus, clock, store } = setReceivingBus((transport, time) => {
      const handler = handlerFor(RemindPayment, async (_message, ctx) => {
        await new Promise<void>((resolve) => void time.wakeAt(time.now() + 5_000, resolve))
        await ctx.send(remind('next'), { deliverAfter: { days: 1 } })
      })
      const receiver = defineReceiver('billing', [handler])
      return { receivers: [{ receiver, source: transport.source('billing', ['orders/remind']) }] }
    })
    await bus.start()
    await bus.send(remind('42'))
    await clock.advanceBy(10)
    await clock.runUntil(bus.stop())
    const now = clock.now() + 86_400_000
    const { claims } = await store.claimDueOutgoingMessages({ now, dueBefore: now, limit: 9, leaseMs: 1 })
    expect(claims).toHaveLength(1)
    expect(clock.pendingTimers()).toBe(0)
  })

  test('has given back what was not due, so that another bus delivers it at once', async () => {
    const { bus, clock, store, startAt } = setBus()
    await bus.start()
    await bus.send(remind('42'), { deliverAfter: 900 })
    await clock.advanceBy(100)
    await clock.runUntil(bus.stop())
    const other = setBus({ share: { clock, store } })
    await other.bus.start()
    await clock.advanceBy(2_000)
    await other.bus.stop()
    expect(other.sent.map(({ at }) => at - startAt)).toEqual([900])
    expect(clock.pendingTimers()).toBe(0)
  })

  test('has stopped its dispatcher also when a receiver could not be stopped, and says why', async () => {
    const source: MessageSource = {
      name: 'billing',
      start: () => async () => {
        throw new Error('the queue is gone')
      },
    }
    const receiver = defineReceiver('billing', [handlerFor(RemindPayment, () => {})])
    const { bus, clock, store } = setBus({ receivers: [{ receiver, source }] })
    await bus.start()
    await bus.send(remind('42'), { deliverAfter: 900 })
    await clock.advanceBy(100)
    expect(await clock.runUntil(refusalOf(bus.stop()))).toMatchObject({ message: 'the queue is gone' })
    expect(clock.pendingTimers()).toBe(0)
    const now = clock.now()
    const { claims } = await store.claimDueOutgoingMessages({ now, dueBefore: now + 900, limit: 9, leaseMs: 1 })
    expect(claims).toHaveLength(1)
  })
})

describe('a bus one of whose sources can not start', () => {
  test('raises that error, and leaves nothing running', async () => {
    const log: string[] = []
    const good: MessageSource = {
      name: 'good',
      start: () => {
        log.push('started')
        return async () => void log.push('stopped')
      },
    }
    const bad: MessageSource = {
      name: 'bad',
      start: () => {
        throw new Error('no such queue')
      },
    }
    const receiver = defineReceiver('billing', [handlerFor(RemindPayment, () => {})])
    const { bus, clock } = setBus({
      receivers: [
        { receiver, source: good },
        { receiver, source: bad },
      ],
    })
    expect(await refusalOf(bus.start())).toMatchObject({ message: 'no such queue' })
    expect(log).toEqual(['started', 'stopped'])
    expect(await refusalOf(bus.send(remind('42')))).toMatchObject({ code: 'bus.stopped' })
    expect(clock.pendingTimers()).toBe(0)
  })
})

describe('the options of a bus', () => {
  test.each([
    ['name', ''],
    ['name', 'orders bus'],
    ['name', 'x'.repeat(65)],
    ['horizon', -1],
    ['horizon', '10 years'],
    ['pastDue', 'now'],
  ])('refuse the %s %j', (option, value) => {
    expect(() => setBus({ [option]: value })).toThrow(
      expect.objectContaining({ code: 'options.invalid', details: expect.objectContaining({ option }) }),
    )
  })

  test('refuse a dispatcher that could not work', () => {
    expect(() => setBus({ dispatch: { maxPublishing: 0 } })).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ option: 'dispatch.maxPublishing' }) }),
    )
  })

  test('have an observer that can throw and harm nothing', async () => {
    const { bus, clock, sent, lines } = setBus({
      onEvent: () => {
        throw new Error('a bug in the metrics')
      },
    })
    await bus.start()
    await bus.send(remind('42'), { deliverAfter: 100 })
    await clock.advanceBy(1_000)
    await bus.stop()
    expect(sent).toHaveLength(1)
    expect(lines.some(({ level }) => level === 'error')).toBe(true)
  })
})
