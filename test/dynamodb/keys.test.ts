import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  bodySortKey,
  deadKey,
  dueKey,
  firstSortKeyAfter,
  keyOfItem,
  messageIdOf,
  parseSortKey,
  toKeyItem,
} from '../../lib/dynamodb/keys.js'

const instants = fc.integer({ min: 0, max: 999_999_999_999_999 })
const rowIds = fc.stringMatching(/^[\w.:/@+=-]{1,40}(~[\w-]{1,20}~[1-9])?$/)
const addresses = fc.record({ shard: fc.nat(500), dueAt: instants, rowId: rowIds })

describe('keys', () => {
  test('a sort key tells the due instant and the row id again', () => {
    fc.assert(
      fc.property(addresses, (address) => {
        const { dueAt, rowId } = address
        expect(parseSortKey(dueKey(address).sk)).toEqual({ dueAt, rowId })
        expect(deadKey(address).sk).toBe(dueKey(address).sk)
      }),
    )
  })

  test('the order of sort keys is the order of due instants', () => {
    fc.assert(
      fc.property(addresses, addresses, (one, other) => {
        if (one.dueAt === other.dueAt) return
        expect(dueKey(one).sk < dueKey(other).sk).toBe(one.dueAt < other.dueAt)
      }),
    )
  })

  test('the bound of a look takes in what is due up to its instant, and nothing else', () => {
    fc.assert(
      fc.property(addresses, fc.integer({ min: -3, max: 3 }), (address, offset) => {
        const dueBefore = address.dueAt + offset
        if (dueBefore < 0) return
        expect(dueKey(address).sk < firstSortKeyAfter(dueBefore)).toBe(address.dueAt <= dueBefore)
        expect(dueKey(address).sk < firstSortKeyAfter(dueBefore + 0.5)).toBe(address.dueAt <= dueBefore)
      }),
    )
  })

  test('different envelopes of one row have different bodies', () => {
    expect(bodySortKey(5, 'one')).not.toBe(bodySortKey(5, 'other'))
    expect(bodySortKey(5, 'one')).toBe(bodySortKey(5, 'one'))
  })

  test('the message id of a redelivery is that of its first delivery', () => {
    expect(messageIdOf('order-42')).toBe('order-42')
    expect(messageIdOf('order-42~billing~3')).toBe('order-42')
  })

  test('what is no sort key of ours is told from those that are', () => {
    for (const sk of [
      '',
      'shards',
      '12#one',
      '000001924800000',
      '000001924800000#',
      '00000192480000x#one',
      '000001924800000one',
    ])
      expect([sk, parseSortKey(sk)]).toEqual([sk, undefined])
  })

  test('a key is read from an item as it was written', () => {
    const key = dueKey({ shard: 3, dueAt: 7, rowId: 'one' })
    expect(keyOfItem(toKeyItem(key))).toEqual(key)
    expect(key.pk).toBe('due#3')
  })
})
