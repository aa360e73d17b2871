import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromWire, ROUTE_ATTRIBUTE, toWire, wireBytes } from '../../lib/core/wire.js'
import { anyDelivery, anyStoredEnvelope } from './arbitrary-envelope.js'

const attributes = { messageId: 'a', messageName: 'orders/place', kind: 'command', route: 'orders/place' }

describe('the wire form', () => {
  test('brings envelope and delivery back whole, falsy values included, but for the sender’s deadline', () => {
    fc.assert(
      fc.property(anyStoredEnvelope, anyDelivery, (envelope, delivery) => {
        fc.pre(!(envelope.name.startsWith('@') && delivery.target === undefined))
        const { discardAfterMs: _, ...travelling } = envelope
        expect(fromWire(toWire(envelope, delivery))).toEqual({ envelope: travelling, delivery })
      }),
    )
  })

  test('has at most ten attributes, none of them empty, and the body as it was', () => {
    fc.assert(
      fc.property(anyStoredEnvelope, anyDelivery, (envelope, delivery) => {
        const wire = toWire(envelope, delivery)
        expect(Object.keys(wire.attributes).length).toBeLessThanOrEqual(10)
        expect(Object.values(wire.attributes)).not.toContain('')
        expect(wire.body).toBe(envelope.body)
      }),
    )
  })

  test('counts what SNS and SQS count: the body, and name, type and value of each attribute', () => {
    fc.assert(
      fc.property(anyStoredEnvelope, anyDelivery, (envelope, delivery) => {
        const wire = toWire(envelope, delivery)
        const counted = Object.entries(wire.attributes).map(([name, value]) =>
          Buffer.byteLength(`${name}String${value}`),
        )
        expect(wireBytes(wire)).toBe(counted.reduce((sum, bytes) => sum + bytes, Buffer.byteLength(wire.body)))
      }),
    )
  })

  test('goes to all subscribers of its name at first, and to one receiver when it is redelivered', () => {
    const envelope = { ...fromWire({ body: '{}', attributes }).envelope }
    expect(toWire(envelope, { attempt: 1 }).attributes[ROUTE_ATTRIBUTE]).toBe('orders/place')
    expect(toWire(envelope, { attempt: 2, target: 'billing' }).attributes[ROUTE_ATTRIBUTE]).toBe('@billing')
  })

  test('needs only id, name, kind and route of a sender in another language', () => {
    expect(fromWire({ body: '{"orderId":"42"}', attributes })).toEqual({
      envelope: {
        messageId: 'a',
        kind: 'command',
        name: 'orders/place',
        body: '{"orderId":"42"}',
        correlationId: 'a',
        attributes: {},
        stickyAttributes: {},
        headers: {},
        sentAt: 0,
      },
      delivery: { attempt: 1 },
    })
  })

  test.each([
    ['no messageId', { messageId: undefined }, 'messageId is missing'],
    ['no messageName', { messageName: undefined }, 'messageName is missing'],
    ['no kind', { kind: undefined }, 'kind is missing'],
    ['another kind', { kind: 'query' }, 'kind is query'],
    ['attributes that are no JSON', { attributes: '{' }, 'JSON'],
    ['attributes that are a list', { attributes: '[1]' }, 'where an object is expected'],
    ['headers that are null', { headers: 'null' }, 'where an object is expected'],
  ])('with %s is refused with the reason', (_what, change, reason) => {
    const present = Object.entries({ ...attributes, ...change }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    )
    expect(() => fromWire({ body: '{}', attributes: Object.fromEntries(present) })).toThrow(reason)
  })
})
