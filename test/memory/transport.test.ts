import { describe, expect, test } from 'vitest'
import type { Envelope } from '../../lib/core/envelope.js'
import { silentLogger } from '../../lib/core/observation.js'
import type { IncomingRecord } from '../../lib/core/transport.js'
import { fromWire } from '../../lib/core/wire.js'
import { memoryTransport } from '../../lib/memory/transport.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'

const envelopeOf = (messageId: string, name = 'orders/place', body = '{"orderId":"42"}'): Envelope => ({
  messageId,
  kind: 'command',
  name,
  body,
  correlationId: 'conversation',
  attributes: { zero: 0, no: false, empty: '', none: null },
  stickyAttributes: { tenant: '' },
  headers: { traceparent: '00-1' },
  sentAt: 1_000,
})

const publicationOf = (envelope: Envelope, target?: string) => ({
  envelope,
  delivery: { dueAt: 2_000, attempt: 1, ...(target !== undefined && { target }) },
})

const setUp = () => {
  const clock = createVirtualClock(0)
  return { clock, transport: memoryTransport({ clock, logger: silentLogger }) }
}

const idsOf = (records: readonly IncomingRecord[]) => records.map(({ attributes }) => attributes.messageId)

describe('the transport in memory', () => {
  test('gives each subscribed source its own copy, filtered on the route alone', async () => {
    const { clock, transport } = setUp()
    const received: Record<string, (string | undefined)[]> = { billing: [], audit: [], other: [] }
    for (const [name, routes] of [
      ['billing', ['orders/place', '@billing']],
      ['audit', ['orders/place', 'orders/cancel']],
      ['other', ['orders/refund']],
    ] as const) {
      transport.source(name, routes).start(async (records) => {
        received[name]?.push(...idsOf(records))
        return []
      })
    }
    await transport.publish([
      publicationOf(envelopeOf('first')),
      publicationOf(envelopeOf('again'), 'billing'),
      publicationOf(envelopeOf('cancel', 'orders/cancel')),
      publicationOf(envelopeOf('nobody', 'orders/ignored')),
    ])
    await clock.advanceBy(0)
    expect(received).toEqual({ billing: ['first', 'again'], audit: ['first', 'cancel'], other: [] })
  })

  test('hands out the wire form, from which the envelope comes back whole', async () => {
    const { clock, transport } = setUp()
    const records: IncomingRecord[] = []
    transport.source('billing', ['orders/place']).start(async (batch) => {
      records.push(...batch)
      return []
    })
    const envelope = envelopeOf('first')
    await transport.publish([publicationOf(envelope)])
    await clock.advanceBy(0)
    const [record] = records
    expect(record?.recordId).toBe('billing-1')
    expect(record && fromWire(record)).toEqual({ envelope, delivery: { dueAt: 2_000, attempt: 1 } })
  })

  test('keeps messages for a source that is not started yet, and those that come between two starts', async () => {
    const { clock, transport } = setUp()
    const source = transport.source('billing', ['orders/place'])
    await transport.publish([publicationOf(envelopeOf('before'))])
    const received: (string | undefined)[] = []
    const receive = async (records: readonly IncomingRecord[]) => {
      received.push(...idsOf(records))
      return []
    }
    const stop = source.start(receive)
    await clock.advanceBy(0)
    await stop()
    await transport.publish([publicationOf(envelopeOf('between'))])
    await clock.advanceBy(0)
    expect(received).toEqual(['before'])
    source.start(receive)
    await clock.advanceBy(0)
    expect(received).toEqual(['before', 'between'])
  })

  test('delivers a failed record again after the visibility time, alone, and keeps it as dead after five times', async () => {
    const { clock, transport } = setUp()
    const received: string[] = []
    const stop = transport.source('billing', ['orders/place']).start(async (records) => {
      for (const id of idsOf(records)) received.push(`${id} at ${clock.now()}`)
      return records.filter(({ attributes }) => attributes.messageId === 'bad').map(({ recordId }) => recordId)
    })
    await transport.publish([publicationOf(envelopeOf('bad')), publicationOf(envelopeOf('good'))])
    await clock.advanceBy(60_000)
    expect(received).toEqual(['bad at 0', 'good at 0', 'bad at 1000', 'bad at 2000', 'bad at 3000', 'bad at 4000'])
    expect(idsOf(transport.deadRecords('billing'))).toEqual(['bad'])
    expect(clock.pendingTimers()).toBe(0)
    await stop()
  })

  test('delivers the whole batch again when its handling throws', async () => {
    const { clock, transport } = setUp()
    const received: (string | undefined)[][] = []
    transport.source('billing', ['orders/place']).start(async (records) => {
      received.push(idsOf(records))
      if (received.length === 1) throw new Error('broken')
      return []
    })
    await transport.publish([publicationOf(envelopeOf('first')), publicationOf(envelopeOf('second'))])
    await clock.advanceBy(1_000)
    expect(received).toEqual([
      ['first', 'second'],
      ['first', 'second'],
    ])
  })

  test('stops only after what was received is answered, and leaves no timer behind', async () => {
    const { clock, transport } = setUp()
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const source = transport.source('billing', ['orders/place'])
    const stop = source.start(async (records) => {
      await gate
      return records.map(({ recordId }) => recordId)
    })
    await transport.publish([publicationOf(envelopeOf('first'))])
    await clock.advanceBy(0)
    let isStopped = false
    const stopping = stop().then(() => {
      isStopped = true
    })
    await clock.advanceBy(0)
    expect(isStopped).toBe(false)
    open()
    await stopping
    expect(clock.pendingTimers()).toBe(0)
    const received: (string | undefined)[] = []
    source.start(async (records) => {
      received.push(...idsOf(records))
      return []
    })
    await clock.advanceBy(1_000)
    expect(received).toEqual(['first'])
  })

  test('hands out at most ten records at a time, in order', async () => {
    const { clock, transport } = setUp()
    const sizes: number[] = []
    const source = transport.source('billing', ['orders/place'])
    for (let i = 0; i < 23; i++) await transport.publish([publicationOf(envelopeOf(`message-${i}`))])
    const received: (string | undefined)[] = []
    source.start(async (records) => {
      sizes.push(records.length)
      received.push(...idsOf(records))
      return []
    })
    await clock.advanceBy(0)
    expect(sizes).toEqual([10, 10, 3])
    expect(received).toEqual(Array.from({ length: 23 }, (_, i) => `message-${i}`))
  })

  test('refuses whole what SNS would refuse: eleven messages, or more than 262,144 bytes with attributes', async () => {
    const { transport } = setUp()
    const failed = (blames: string, reason: string) => ({ outcome: 'failed', blames, published: 'no', reason })
    const eleven = Array.from({ length: 11 }, (_, i) => publicationOf(envelopeOf(`message-${i}`)))
    expect(await transport.publish(eleven)).toEqual(
      eleven.map(() => failed('request', 'the batch has 11 messages; the most is 10')),
    )
    const half = publicationOf(envelopeOf('half', 'orders/place', `"${'x'.repeat(131_000)}"`))
    expect((await transport.publish([half]))[0]).toEqual({ outcome: 'published' })
    expect(await transport.publish([half, half])).toMatchObject([{ blames: 'request' }, { blames: 'request' }])
    const whole = publicationOf(envelopeOf('whole', 'orders/place', `"${'x'.repeat(262_000)}"`))
    expect(await transport.publish([whole])).toMatchObject([{ outcome: 'failed', blames: 'message', published: 'no' }])
  })
})
