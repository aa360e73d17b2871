import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSortedRows } from '../../lib/memory/sorted-rows.js'

interface Row {
  readonly sortKey: string
  readonly value: number
}

const keyOf = (number: number) => String(number).padStart(5, '0')

describe('sorted rows', () => {
  test('hold after any inserts and removals what a sorted map would', () => {
    const operation = fc.record({
      kind: fc.constantFrom('insert', 'insert', 'insert', 'remove'),
      number: fc.integer({ min: 0, max: 3_000 }),
    })
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 4_000, size: 'max' }), (operations) => {
        const rows = createSortedRows<Row>()
        const model = new Map<string, Row>()
        for (const [value, { kind, number }] of operations.entries()) {
          const sortKey = keyOf(number)
          if (kind === 'remove') {
            rows.remove(sortKey)
            model.delete(sortKey)
          } else if (!model.has(sortKey)) {
            rows.insert({ sortKey, value })
            model.set(sortKey, { sortKey, value })
          }
          expect(rows.find(sortKey)).toEqual(model.get(sortKey))
        }
        const expected = [...model.values()].sort((one, other) => (one.sortKey < other.sortKey ? -1 : 1))
        expect([...rows.values()]).toEqual(expected)
        expect(rows.size()).toBe(model.size)
      }),
      { numRuns: 30 },
    )
  })

  test('grow and shrink over many blocks, from the front, the back and the middle', () => {
    const rows = createSortedRows<Row>()
    const numbers = Array.from({ length: 5_000 }, (_, index) => (index * 7_919) % 5_000)
    for (const number of numbers) rows.insert({ sortKey: keyOf(number), value: number })
    expect([...rows.values()].map(({ value }) => value)).toEqual(numbers.toSorted((one, other) => one - other))
    for (let number = 0; number < 2_000; number++) rows.remove(keyOf(number))
    for (let number = 4_999; number >= 3_000; number--) rows.remove(keyOf(number))
    rows.remove('not there')
    expect(rows.size()).toBe(1_000)
    expect([...rows.values()].map(({ value }) => value)).toEqual(Array.from({ length: 1_000 }, (_, i) => 2_000 + i))
    for (let number = 2_000; number < 3_000; number++) rows.remove(keyOf(number))
    expect([rows.size(), [...rows.values()], rows.find(keyOf(0))]).toEqual([0, [], undefined])
  })
})
