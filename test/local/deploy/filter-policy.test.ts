import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readFilterPolicy } from '../../../lib/local/deploy/filter-policy.js'
import { textAttributes } from '../support/clients.js'

const read = (policy: Record<string, unknown>) => readFilterPolicy(policy, (rule) => new Error(rule))

const number = (value: number) => ({ DataType: 'Number', StringValue: String(value) })
const list = (...values: readonly unknown[]) => ({ DataType: 'String.Array', StringValue: JSON.stringify(values) })

it.each([
  [['a', 'b'], 'b', true],
  [['a', 'b'], 'c', false],
  [[{ prefix: 'orders/' }], 'orders/place', true],
  [[{ prefix: 'orders/' }], 'billing/orders/', false],
  [[{ suffix: '/place' }], 'orders/place', true],
  [[{ 'anything-but': ['a'] }], 'b', true],
  [[{ 'anything-but': 'a' }], 'a', false],
  [[{ 'anything-but': { prefix: 'x' } }], 'xy', false],
  [[{ 'anything-but': { suffix: 'y' } }], 'xz', true],
  [[{ 'equals-ignore-case': 'Place' }], 'PLACE', true],
  [[{ exists: true }], 'x', true],
  [[{ exists: false }], 'x', false],
])('the conditions %j on %j: %s', (conditions, value, matches) => {
  expect(read({ route: conditions }).matches(textAttributes({ route: value }))).toBe(matches)
})

it('an attribute that is missing passes only where it may be missing', () => {
  expect(read({ route: [{ exists: false }] }).matches({})).toBe(true)
  expect(read({ route: ['a'] }).matches({})).toBe(false)
  expect(read({ route: [{ 'anything-but': ['a'] }] }).matches({})).toBe(false)
})

it('numbers are compared as numbers, and lists by any of their values', () => {
  expect(read({ price: [{ numeric: ['>=', 1, '<', 10] }] }).matches({ price: number(9.5) })).toBe(true)
  expect(read({ price: [{ numeric: ['>', 10] }] }).matches({ price: number(9) })).toBe(false)
  expect(read({ price: [5] }).matches({ price: number(5) })).toBe(true)
  expect(read({ price: [5] }).matches(textAttributes({ price: '5' }))).toBe(false)
  expect(read({ tags: ['b'] }).matches({ tags: list('a', 'b') })).toBe(true)
})

it('every key must match, by any of its conditions', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.constantFrom('a', 'b', 'c'),
        fc.array(fc.constantFrom('1', '2', '3'), { minLength: 1, maxLength: 3 }),
      ),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2', '3')),
      (policy, values) => {
        const expected = Object.entries(policy).every(
          ([key, any]) => values[key] !== undefined && any.includes(values[key]),
        )
        return read(policy).matches(textAttributes(values)) === expected
      },
    ),
  )
})

it.each([
  [{ route: 'a' }, /no list of conditions/],
  [{ route: [] }, /no list of conditions/],
  [{ route: [null] }, /null, which is not known/],
  [{ route: [{ wildcard: 'a*' }] }, /wildcard/],
  [Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((key) => [key, ['x']])), /6 keys, above 5/],
])('the policy %j is refused', (policy, message) => {
  expect(() => read(policy)).toThrow(message)
})
