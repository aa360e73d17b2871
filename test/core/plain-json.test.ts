import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findNotPlain } from '../../lib/core/plain-json.js'

class Money {
  amount = 5
}

const cyclic = (): object => {
  const order: { lines: object[] } = { lines: [] }
  order.lines.push({ order })
  return order
}

const nested = (levels: number): object => {
  let value: object = {}
  for (let level = 0; level < levels; level++) value = { value }
  return value
}

describe('a message that is plain JSON', () => {
  test.each<[string, object]>([
    ['falsy values', { zero: 0, no: false, empty: '', none: null, list: [] }],
    ['an optional property that is undefined, as JSON leaves it out', { note: undefined }],
    ['an instance of a class as the message itself', new Money()],
    ['one object in two places', (({ at }) => ({ from: at, to: at }))({ at: { x: 1 } })],
    ['objects without a prototype', { map: Object.assign(Object.create(null), { a: 1 }) }],
    ['a hundred levels', nested(100)],
  ])('may hold %s', (_what, message) => {
    expect(findNotPlain(message)).toBeUndefined()
  })

  test.each<[string, object, string, string]>([
    ['a date', { at: new Date(0) }, 'at', 'an instance of Date'],
    ['a map', { lines: [{ prices: new Map() }] }, 'lines[0].prices', 'an instance of Map'],
    ['an instance of a class', { price: new Money() }, 'price', 'an instance of Money'],
    ['NaN', { a: { b: [1, Number.NaN] } }, 'a.b[1]', 'NaN'],
    ['infinity', { a: Number.NEGATIVE_INFINITY }, 'a', '-Infinity'],
    ['a bigint', { id: 1n }, 'id', 'a bigint'],
    ['a function', { run: () => {} }, 'run', 'a function'],
    ['a symbol', { sign: Symbol('x') }, 'sign', 'a symbol'],
    ['undefined in a list, which JSON turns into null', { list: [undefined] }, 'list[0]', 'undefined'],
    ['a hole', { list: new Array(1) }, 'list[0]', 'undefined'],
    ['a cycle', cyclic(), 'lines[0].order', 'a cycle'],
    ['toJSON', { price: { toJSON: () => 5 } }, 'price', 'an object with toJSON'],
    ['a symbol as a key', { a: { [Symbol('hidden')]: 1 } }, 'a', 'an object with a symbol as a key'],
    ['a key that is no word', { 'two words': new Date(0) }, '["two words"]', 'an instance of Date'],
  ])('may not hold %s', (_what, message, path, what) => {
    expect(findNotPlain(message)).toEqual({ path, what })
  })

  test('may not be so deep that writing it runs out of stack', () => {
    expect(findNotPlain(nested(100_000))?.what).toBe('nested deeper than 500 levels')
  })

  test('comes back from JSON as it was, whatever was found plain', () => {
    const value = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, maxDepth: 4 })
    let plain = 0
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), (message) => {
        if (findNotPlain(message) !== undefined) return
        plain++
        expect(JSON.parse(JSON.stringify(message))).toEqual(withoutMarks(message))
      }),
      { numRuns: 500 },
    )
    expect(plain).toBeGreaterThan(50)
  })
})

/** The value without what JSON can't tell apart and no receiver would miss: the sign of 0, and a missing prototype. */
const withoutMarks = (value: unknown): unknown => {
  if (value === 0) return 0
  if (Array.isArray(value)) return value.map(withoutMarks)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutMarks(item)]))
}
