import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DeadLetter, toDeadLetterWire } from '../../../lib/core/redelivery/dead-letter.js'
import { recordFailure } from '../../../lib/core/redelivery/failure-history.js'
import { wireBytes } from '../../../lib/core/wire.js'
import { anyText } from '../arbitrary-envelope.js'
import { recordOf } from './batch-stage.js'

const failure = recordFailure(undefined, Object.assign(new Error('m'.repeat(900)), { stack: 's'.repeat(4_000) }), 1, 1)
const letterOf = (over: Partial<DeadLetter> = {}): DeadLetter => ({
  record: recordOf('shop/charge-card', { $name: 'shop/charge-card', $version: 1 }),
  receiver: 'billing',
  reason: 'failed 5 times',
  attempt: 5,
  diedAt: 1_000,
  failure,
  ...over,
})
const whyOf = (letter: DeadLetter, maxBytes = 262_144) =>
  JSON.parse(toDeadLetterWire(letter, maxBytes, 'dead').attributes.deadLetter ?? 'null')

describe('a dead letter', () => {
  test('is the record as it came, and one attribute that says why', () => {
    const letter = letterOf()
    const { body, attributes } = toDeadLetterWire(letter, 262_144, 'dead')
    const { deadLetter, ...rest } = attributes
    expect([body, rest]).toEqual([letter.record.body, letter.record.attributes])
    expect(JSON.parse(deadLetter ?? '')).toEqual({
      reason: 'failed 5 times',
      receiver: 'billing',
      attempt: 5,
      diedAt: 1_000,
      failure,
    })
  })

  test('tells the failures once, also when they had filled the record to its limit', () => {
    const delivery = { sentAt: 1, attempt: 4, failure }
    const record = recordOf('x', 'b'.repeat(1_000), { delivery: JSON.stringify(delivery) })
    const { attributes } = toDeadLetterWire(letterOf({ record }), wireBytes(record), 'dead')
    expect(JSON.parse(attributes.delivery ?? '')).toEqual({ sentAt: 1, attempt: 4 })
    expect(JSON.parse(attributes.deadLetter ?? '').failure).toMatchObject({ count: 1, last: { at: 1 } })
  })

  test('of a record that could not be read has its attributes as they came', () => {
    const { attempt: _, ...unread } = letterOf({ record: recordOf('x', '[', { delivery: '{"failure"' }) })
    expect(toDeadLetterWire(unread, 262_144, 'dead').attributes.delivery).toBe('{"failure"')
  })

  test('of a record that could not be read has no attempt', () => {
    const { attempt: _, failure: __, ...unread } = letterOf()
    expect(whyOf(unread)).toEqual({ reason: 'failed 5 times', receiver: 'billing', diedAt: 1_000 })
  })

  test('has at most ten attributes, none of them empty, and says why it died now', () => {
    const attributes = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`a${index}`, `${index}`]))
    const record = { ...recordOf('x', {}), attributes: { ...attributes, empty: '', deadLetter: 'of an earlier death' } }
    const wire = toDeadLetterWire(letterOf({ record }), 262_144, 'dead')
    expect(Object.keys(wire.attributes)).toHaveLength(10)
    expect(wire.attributes).not.toHaveProperty('empty')
    expect(JSON.parse(wire.attributes.deadLetter ?? '').reason).toBe('failed 5 times')
  })

  test('fits its queue, whatever room there is, as long as there is room for a short reason', () => {
    const anyLetter = fc
      .record({ body: anyText({ maxLength: 200 }), reason: anyText({ maxLength: 300 }), withFailure: fc.boolean() })
      .map(({ body, reason, withFailure }) => {
        const { failure: _, ...letter } = letterOf({ record: recordOf('x', body), reason })
        return withFailure ? { ...letter, failure } : letter
      })
    fc.assert(
      fc.property(anyLetter, fc.integer({ min: 0, max: 8_000 }), (letter, roomBytes) => {
        const bare = wireBytes({ body: letter.record.body, attributes: letter.record.attributes })
        if (roomBytes < 600) {
          try {
            expect(wireBytes(toDeadLetterWire(letter, bare + roomBytes, 'dead'))).toBeLessThanOrEqual(bare + roomBytes)
          } catch (error) {
            expect(error).toMatchObject({ code: 'receiver.dead-letter-failed' })
          }
          return
        }
        const wire = toDeadLetterWire(letter, bare + roomBytes, 'dead')
        expect(wireBytes(wire)).toBeLessThanOrEqual(bare + roomBytes)
        expect(wire.body).toBe(letter.record.body)
      }),
      { numRuns: 300 },
    )
  })

  test('with a long stack keeps what the limit leaves of it', () => {
    const letter = letterOf({ record: recordOf('x', 'b'.repeat(250_000)), reason: 'r'.repeat(5_000) })
    const why = whyOf(letter, 254_000)
    expect(why.reason).toBe(`${'r'.repeat(999)}…`)
    expect(why.failure.last.stack.length).toBeGreaterThan(200)
    expect(whyOf(letter, 250_700).failure).toMatchObject({ count: 1 })
  })
})
