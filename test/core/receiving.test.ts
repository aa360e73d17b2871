import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defineReceiver, handlerFor } from '../../lib/core/receiver.js'
import type { ReceivingOptions } from '../../lib/core/receiving.js'
import type { IncomingRecord } from '../../lib/core/transport.js'
import { toWire } from '../../lib/core/wire.js'
import { OrderPlaced, RemindPayment, refusalOf, setBus } from './bus-stage.js'
import { envelopeOf, idsUpTo } from './dispatch/stage.js'

const goodRecord = (id: string): IncomingRecord => ({
  recordId: id,
  ...toWire(envelopeOf(id, JSON.stringify(RemindPayment({ orderId: id }))), { attempt: 1 }),
})

type Fault = 'none' | 'body' | 'list' | 'name' | 'id' | 'kind' | 'throws' | 'rejects' | 'sticky'

const recordWith = (id: string, fault: Fault): IncomingRecord => {
  const { attributes, ...good } = goodRecord(id)
  const change = (changes: Record<string, string | undefined>): IncomingRecord => {
    const entries = Object.entries({ ...attributes, ...changes })
    const kept = entries.filter((entry): entry is [string, string] => entry[1] !== undefined)
    return { ...good, attributes: Object.fromEntries(kept) }
  }
  switch (fault) {
    case 'body':
      return { ...good, attributes, body: '{"orderId":' }
    case 'list':
      return { ...good, attributes, body: '[]' }
    case 'name':
      return change({ messageName: 'orders/unknown' })
    case 'id':
      return change({ messageId: undefined })
    case 'kind':
      return change({ kind: 'query' })
    case 'sticky':
      return change({ stickyAttributes: '{' })
    default:
      return { ...good, attributes, body: JSON.stringify({ ...RemindPayment({ orderId: id }), note: fault }) }
  }
}

const setReceiver = (options: ReceivingOptions = {}) => {
  const { bus, events, lines, clock } = setBus()
  const handled: string[] = []
  const receiver = defineReceiver('billing', [
    handlerFor(RemindPayment, (message) => {
      if (message.note === 'throws') throw new Error('a handler threw')
      if (message.note === 'rejects') return Promise.reject(new Error('a handler rejected'))
      handled.push(message.orderId)
      return undefined
    }),
  ])
  const handle = (records: readonly IncomingRecord[]) => bus.handleRecords(records, receiver, options)
  return { bus, handle, handled, events, lines, clock }
}

describe('a batch of records', () => {
  test('of which some are bad fails in those alone, each named once', async () => {
    const anyFault = fc.constantFrom<Fault>('none', 'body', 'list', 'name', 'id', 'kind', 'sticky', 'throws', 'rejects')
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyFault, { maxLength: 15 }),
        fc.integer({ min: 1, max: 12 }),
        async (faults, concurrency) => {
          const { handle, handled, events, lines } = setReceiver({ concurrency })
          const failed = await handle(faults.map((fault, index) => recordWith(`m${index}`, fault)))
          const idsOf = (isBad: boolean) =>
            faults.flatMap((fault, index) => ((fault !== 'none') === isBad ? [`m${index}`] : []))
          expect([...failed].sort()).toEqual(idsOf(true).sort())
          expect(handled.sort()).toEqual(idsOf(false).sort())
          expect(events.filter(({ type }) => type === 'handled')).toHaveLength(handled.length)
          expect(events.filter(({ type }) => type === 'handling-failed')).toHaveLength(failed.length)
          expect(lines.filter(({ level }) => level === 'error')).toHaveLength(failed.length)
        },
      ),
    )
  })

  test('that failed whole names every id', async () => {
    const { handle } = setReceiver()
    const ids = idsUpTo(10)
    expect([...(await handle(ids.map((id) => recordWith(id, 'throws'))))].sort()).toEqual(ids)
  })

  test('of none fails in none', async () => {
    expect(await setReceiver().handle([])).toEqual([])
  })

  test.each<[Fault, string]>([
    ['body', 'JSON'],
    ['list', 'its body is no JSON object'],
    ['id', 'the attribute messageId is missing'],
    ['name', '(receiver.no-handler)'],
  ])('says why a record with a bad %s failed', async (fault, reason) => {
    const { handle, events } = setReceiver()
    await handle([recordWith('m', fault)])
    const why = { recordId: 'm', receiver: 'billing', reason: expect.stringContaining(reason) }
    expect(events).toMatchObject([
      { type: 'handling-failed', ...why },
      { type: 'given-back', ...why },
    ])
  })
})

describe('an observer of a batch that throws', () => {
  test('harms no record', async () => {
    const onEvent = () => {
      throw new Error('a bug in the metrics')
    }
    const { handle, handled } = setReceiver({ onEvent })
    expect(await handle([goodRecord('a'), recordWith('bad', 'throws'), goodRecord('b')])).toEqual(['bad'])
    expect(handled).toEqual(['a', 'b'])
  })
})

describe('the concurrency of a batch', () => {
  test.each([1, 3, 10])('is %i at most, and all are handled', async (concurrency) => {
    const { bus, clock } = setBus()
    const running = { now: 0, most: 0, all: 0 }
    const receiver = defineReceiver('billing', [
      handlerFor(RemindPayment, async () => {
        running.now++
        running.all++
        running.most = Math.max(running.most, running.now)
        await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + 100, resolve))
        running.now--
      }),
    ])
    const records = idsUpTo(25).map((id) => goodRecord(id))
    expect(await clock.runUntil(bus.handleRecords(records, receiver, { concurrency }))).toEqual([])
    expect(running).toEqual({ now: 0, most: concurrency, all: 25 })
  })

  test.each([0, -1, Number.NaN, 0.5])(
    'of %d is refused, since it would acknowledge every record unhandled',
    async (concurrency) => {
      const { handle, handled } = setReceiver({ concurrency })
      expect(await refusalOf(handle([goodRecord('m')]))).toMatchObject({ code: 'options.invalid' })
      expect(handled).toEqual([])
    },
  )
})

describe('a receiver', () => {
  class Reminder {
    readonly $name = 'orders/reminder'
    readonly $version = 1
    readonly orderId: string = ''
  }

  test('has handlers for definitions and for classes, by their names', async () => {
    const receiver = defineReceiver('billing', [
      handlerFor(RemindPayment, () => {}),
      handlerFor(OrderPlaced, () => {}),
      handlerFor(Reminder, () => {}),
    ])
    expect([...receiver.handlers.keys()]).toEqual(['orders/remind', 'orders/placed', 'orders/reminder'])
  })

  test('has one handler for a message', () => {
    const twice = [handlerFor(RemindPayment, () => {}), handlerFor(RemindPayment, () => {})]
    expect(() => defineReceiver('billing', twice)).toThrow(
      expect.objectContaining({
        code: 'receiver.duplicate-handler',
        details: { name: 'orders/remind', receiver: 'billing' },
      }),
    )
  })

  test('has a name that keys and routes can hold, and handles messages that have one', () => {
    expect(() => defineReceiver('billing service', [])).toThrow(expect.objectContaining({ code: 'options.invalid' }))
    class Nameless {
      readonly $name: unknown = undefined
      readonly $version = 1
    }
    expect(() => handlerFor(Nameless as typeof Reminder, () => {})).toThrow(
      expect.objectContaining({ code: 'message.invalid' }),
    )
  })
})
