import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { describeValue, isDate, isPlainObject } from '../../lib/core/describe-value.js'
import { refusalOf, setBus } from './bus-stage.js'

/** Makes a value in a realm of its own, as test runners and VM contexts do. */
const elsewhere = (code: string): unknown => runInNewContext(`(${code})`)

class Money {
  readonly amount = 5
}

describe('a plain object', () => {
  test.each<[string, unknown]>([
    ['written as one', { a: 1 }],
    ['without a prototype', Object.create(null)],
    ['parsed from JSON', JSON.parse('{"a":1}')],
    ['of another realm', elsewhere('{ a: 1 }')],
  ])('is one %s', (_what, value) => {
    expect(isPlainObject(value)).toBe(true)
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a list', []],
    ['text', 'a'],
    ['a function', () => {}],
    ['an instance of a class', new Money()],
    ['a map', new Map()],
    ['a map of another realm', elsewhere('new Map()')],
    ['an instance of a class of another realm', elsewhere('new (class Money {})()')],
    ['what inherits from an object', Object.create({ a: 1 })],
    ['what inherits from one without a prototype', Object.create(Object.create(null))],
  ])('is not %s', (_what, value) => {
    expect(isPlainObject(value)).toBe(false)
  })
})

describe('a Date', () => {
  test('is one of any realm, and of a class of its own', () => {
    class Later extends Date {}
    for (const value of [new Date(5), new Date(Number.NaN), new Later(5), elsewhere('new Date(5)')])
      expect(isDate(value)).toBe(true)
  })

  test('is not what only looks like one', () => {
    const lookalike = { [Symbol.toStringTag]: 'Date', getTime: () => 5 }
    for (const value of [undefined, null, 5, '2026-01-01', {}, lookalike, Object.create(Date.prototype)])
      expect(isDate(value)).toBe(false)
  })
})

test.each<[unknown, string]>([
  [undefined, 'undefined'],
  [null, 'null'],
  [5, '5'],
  [-0, '0'],
  [5n, '5n'],
  ['a"b', '"a\\"b"'],
  ['x'.repeat(61), `"${'x'.repeat(60)}…"`],
  [new Date(5), 'the Date 1970-01-01T00:00:00.005Z'],
  [new Date(Number.NaN), 'an invalid Date'],
  [[], 'an array'],
  [{}, 'an object'],
  [new Money(), 'an instance of Money'],
  [Promise.resolve(), 'an instance of Promise'],
  [() => {}, 'a function'],
  [Symbol('a'), 'Symbol(a)'],
])('%o is described as %s', (value, text) => {
  expect(describeValue(value)).toBe(text)
})

describe('what comes from another realm', () => {
  test('is taken as what it is: instants, durations, messages, attributes', async () => {
    const { bus, startAt } = setBus()
    const message = elsewhere("{ $name: 'orders/remind', $version: 1, lines: [{ price: 5 }] }") as {
      $name: string
      $version: number
    }
    const dueAtOf = async (options: object) => (await bus.send(message, options)).dueAt
    expect(await dueAtOf({ deliverAt: elsewhere(`new Date(${startAt + 5})`) })).toBe(startAt + 5)
    expect(await dueAtOf({ deliverAfter: elsewhere('{ minutes: 1 }') })).toBe(startAt + 60_000)
    expect(await dueAtOf({ deliverAfter: 5, attributes: elsewhere('{ a: 0 }') })).toBe(startAt + 5)
  })

  test('is refused as what it is', async () => {
    const { bus } = setBus()
    const message = { $name: 'orders/remind', $version: 1, at: elsewhere('new Date(0)') }
    expect(await refusalOf(bus.send(message))).toMatchObject({
      code: 'message.not-plain-json',
      details: { path: 'at', what: 'an instance of Date' },
    })
  })
})

describe('a message of a class', () => {
  const about = { $name: 'orders/remind', $version: 1 }

  test.each<[string, object, string, string]>([
    [
      'an Error, whose text is not among its own properties',
      Object.assign(new Error('lost'), about),
      'the message',
      'an instance of Error',
    ],
    [
      'a map, whose entries JSON forgets',
      Object.assign(new Map([['a', 1]]), about),
      'the message',
      'an instance of Map',
    ],
    [
      'what holds a match of a regular expression',
      { ...about, match: /b/.exec('abc') },
      'match',
      'an array with the property index',
    ],
  ])('can not be %s', async (_what, message, path, what) => {
    const { bus } = setBus()
    expect(await refusalOf(bus.send(message as typeof about))).toMatchObject({
      code: 'message.not-plain-json',
      details: { path, what },
    })
  })
})
