import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeEnvelope, encodeEnvelope, toJsonText, utf8Bytes } from '../../../lib/core/envelope.js'
import {
  cutText,
  describeFailure,
  type FailureHistory,
  fitFailure,
  readFailure,
  recordFailure,
} from '../../../lib/core/redelivery/failure-history.js'
import { fromWire, toWire } from '../../../lib/core/wire.js'
import { anyDelivery, anyEnvelope, anyText } from '../arbitrary-envelope.js'

const anyLongText = fc.oneof(
  anyText({ maxLength: 40 }),
  fc
    .tuple(fc.constantFrom('a', 'é', '€', '😀', '\n', '\u0000', '\ufffe'), fc.integer({ min: 0, max: 9_000 }))
    .map(([character, times]) => character.repeat(times)),
)
const anyError = fc
  .record({ name: anyLongText, message: anyLongText, stack: fc.option(anyLongText) })
  .map((shape) => Object.assign(new Error(shape.message), { name: shape.name, stack: shape.stack ?? undefined }))
const anyHistory = fc
  .array(anyError, { minLength: 1, maxLength: 4 })
  .map((errors) =>
    errors.reduce<FailureHistory | undefined>(
      (before, error, index) => recordFailure(before, error, index, index + 1),
      undefined,
    ),
  )
const bytesOf = (value: unknown) => utf8Bytes(toJsonText(value))
const isWhole = (text: string) => !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text)

describe('a history of failures', () => {
  test('counts, and keeps the first and the last', () => {
    const one = recordFailure(undefined, new TypeError('first'), 1_000, 1)
    const three = recordFailure(recordFailure(one, 'second', 2_000, 3), new Error('third'), 3_000, 4)
    expect(three).toEqual({
      count: 3,
      first: { at: 1_000, attempt: 1, type: 'TypeError', message: 'first' },
      last: { at: 3_000, attempt: 4, type: 'Error', message: 'third', stack: expect.stringContaining('third') },
    })
    expect(describeFailure(three)).toBe('Error: third')
  })

  test('keeps at most 4 KB of a stack, and a kilobyte or so of a message', () => {
    const error = Object.assign(new Error('m'.repeat(60_000)), { stack: 's€'.repeat(30_000) })
    const { first, last } = recordFailure(undefined, error, 1, 1)
    expect(bytesOf(last?.stack)).toBeLessThanOrEqual(4_096)
    expect(bytesOf(last?.stack)).toBeGreaterThan(4_000)
    expect(last?.stack?.endsWith('…')).toBe(true)
    expect(last?.message).toBe(`${'m'.repeat(999)}…`)
    expect(first).not.toHaveProperty('stack')
  })

  test('fits whatever room there is, whole characters only, and never loses its count', () => {
    fc.assert(
      fc.property(anyHistory, fc.integer({ min: 0, max: 12_000 }), (history, roomBytes) => {
        fc.pre(history !== undefined)
        const cut = fitFailure(history, roomBytes)
        const least = bytesOf({ count: history.count })
        if (roomBytes < least) {
          expect(cut).toBeUndefined()
          return
        }
        expect(cut?.count).toBe(history.count)
        expect(bytesOf(cut)).toBeLessThanOrEqual(roomBytes)
        expect(bytesOf(history) <= roomBytes ? cut : history).toEqual(history)
        // A text that was whole is so after the cut.
        const { message = '' } = history.last ?? {}
        if (isWhole(message)) expect(isWhole(cut?.last?.message ?? '')).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('gives up its stack first, then the first message, then the last', () => {
    const error = Object.assign(new Error('m'.repeat(300)), { stack: 's'.repeat(3_000) })
    const history = recordFailure(recordFailure(undefined, error, 1, 1), error, 2, 2)
    const full = bytesOf(history)
    expect(fitFailure(history, full - 2_000)?.first?.message).toHaveLength(300)
    const without = fitFailure(history, full - 3_100)
    expect(without?.last?.stack?.length ?? 0).toBeLessThan(10)
    expect(without?.last?.message).toHaveLength(300)
    const lastAlone = { at: 2, attempt: 2, type: 'Error', message: expect.stringMatching(/^m+…$/) }
    expect(fitFailure(history, 100)).toEqual({ count: 2, last: lastAlone })
    expect(fitFailure(history, 60)).toEqual({ count: 2 })
  })

  test('goes over the wire and through a store as it is', () => {
    fc.assert(
      fc.property(anyEnvelope, anyDelivery, anyHistory, (envelope, delivery, failure) => {
        fc.pre(failure !== undefined && !(envelope.name.startsWith('@') && delivery.target === undefined))
        const failed = { ...envelope, failure }
        // A lone surrogate is written as an escape, and comes back as it was.
        expect(fromWire(toWire(failed, delivery))).toEqual({ envelope: failed, delivery })
        expect(decodeEnvelope(encodeEnvelope(failed), failed)).toEqual(failed)
      }),
    )
  })

  test('that is malformed is left out, in all or in part', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(() => readFailure(value)).not.toThrow()
      }),
    )
    for (const bad of [undefined, null, 1, 'x', [], {}, { count: 0 }, { count: 1.5 }, { count: '1' }])
      expect(readFailure(bad)).toBeUndefined()
    const good = { at: 1, attempt: 1, type: 'Error', message: 'm' }
    expect(readFailure({ count: 2, first: good, last: { ...good, message: 5 }, more: true })).toEqual({
      count: 2,
      first: good,
    })
  })
})

test('a text is cut to whole characters', () => {
  expect(cutText('abc', 3)).toBe('abc')
  expect(cutText('abcd', 3)).toBe('ab…')
  expect(cutText('a😀bc', 3)).toBe('a…')
  expect(cutText('abc', 0)).toBe('')
})
