import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeEnvelope, utf8Bytes } from '../../lib/core/envelope.js'
import { estimateStoredBytes, estimateWireBytes, packBatch } from '../../lib/core/packing.js'
import { toWire, wireBytes } from '../../lib/core/wire.js'
import { anyDelivery, anyStoredEnvelope } from './arbitrary-envelope.js'

const anyItems = fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 120 }), alone: fc.boolean() }), {
  minLength: 1,
  maxLength: 30,
})
const anyLimits = fc.record({
  maxMessageBytes: fc.constant(100),
  maxBatchBytes: fc.integer({ min: 50, max: 300 }),
  maxBatchMessages: fc.integer({ min: 1, max: 10 }),
})

describe('a batch', () => {
  test('is never empty, never over a limit unless by one message alone, and keeps the order', () => {
    fc.assert(
      fc.property(anyItems, anyLimits, (items, limits) => {
        let rest: typeof items = items
        const packed: (typeof items)[number][] = []
        while (rest.length > 0) {
          const batch = packBatch(rest, limits)
          expect(batch.length).toBeGreaterThan(0)
          expect(batch.length).toBeLessThanOrEqual(limits.maxBatchMessages)
          const bytes = batch.reduce((sum, item) => sum + item.bytes, 0)
          if (batch.length > 1) expect(bytes).toBeLessThanOrEqual(limits.maxBatchBytes)
          if (batch.some(({ alone }) => alone)) expect(batch).toHaveLength(1)
          packed.push(...batch)
          rest = rest.slice(batch.length)
        }
        expect(packed).toEqual(items)
      }),
    )
  })

  test('takes as much as fits', () => {
    const limits = { maxMessageBytes: 100, maxBatchBytes: 100, maxBatchMessages: 3 }
    const item = (bytes: number, alone = false) => ({ bytes, alone })
    expect(packBatch([item(50), item(50), item(1)], limits)).toHaveLength(2)
    expect(packBatch([item(1), item(1), item(1), item(1)], limits)).toHaveLength(3)
    expect(packBatch([item(101), item(1)], limits)).toHaveLength(1)
    expect(packBatch([item(1), item(1, true), item(1)], limits)).toHaveLength(1)
  })
})

describe('the estimate of a message', () => {
  test('is at least what it has on the wire, from its envelope as from its stored bytes', () => {
    fc.assert(
      fc.property(anyStoredEnvelope, anyDelivery, (envelope, delivery) => {
        const bytes = wireBytes(toWire(envelope, delivery))
        const storedBytes = utf8Bytes(encodeEnvelope(envelope))
        expect(estimateStoredBytes(storedBytes, envelope, delivery.target)).toBeGreaterThanOrEqual(bytes)
        const { target: _, ...first } = delivery
        expect(estimateWireBytes(envelope)).toBeGreaterThanOrEqual(wireBytes(toWire(envelope, first)))
      }),
      { numRuns: 1_000 },
    )
  })

  test('is close: not a kilobyte over for ids and names of ordinary length', () => {
    const envelope = {
      messageId: crypto.randomUUID(),
      kind: 'command',
      name: 'orders/place',
      body: '{"orderId":"42"}',
      correlationId: crypto.randomUUID(),
      attributes: {},
      stickyAttributes: {},
      headers: {},
      sentAt: 1_900_000_000_000,
    } as const
    const bytes = wireBytes(toWire(envelope, { attempt: 1, dueAt: 1_900_000_000_000 }))
    expect(estimateWireBytes(envelope) - bytes).toBeLessThan(300)
  })
})
