import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deriveMessageId, hashText, randomIds, type SendOrigin, shardOf } from '../../lib/core/ids.js'
import { formatLease, LONGEST_LEASE_BYTES } from '../../lib/core/lease.js'
import { anyText } from './arbitrary-envelope.js'

const anyOrigin: fc.Arbitrary<SendOrigin> = fc.record({
  incomingId: anyText(),
  receiver: anyText(),
  handler: anyText(),
  content: anyText(),
  occurrence: fc.nat(),
})

describe('the id of a handler send', () => {
  test('is the same for the same origin, and another for any other', () => {
    fc.assert(
      fc.property(anyOrigin, anyOrigin, (one, other) => {
        const isSame = (Object.keys(one) as (keyof SendOrigin)[]).every((part) => one[part] === other[part])
        expect(deriveMessageId({ ...one })).toBe(deriveMessageId(one))
        expect(deriveMessageId(one) === deriveMessageId(other)).toBe(isSame)
      }),
    )
  })

  test.each([
    ['content', { content: 'other' }],
    ['occurrence', { occurrence: 1 }],
    ['receiver', { receiver: 'other' }],
    ['handler', { handler: 'other' }],
    ['incoming message', { incomingId: 'other' }],
    ['border between two parts', { incomingId: 'i","r', receiver: '' }],
  ])('is another for another %s', (_what, change) => {
    const origin = { incomingId: 'i', receiver: 'r', handler: 'h', content: 'c', occurrence: 0 }
    expect(deriveMessageId({ ...origin, ...change })).not.toBe(deriveMessageId(origin))
  })

  test('is a UUID of version 8', () => {
    fc.assert(
      fc.property(anyOrigin, (origin) => {
        expect(deriveMessageId(origin)).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
      }),
    )
  })
})

describe('the hash of a text', () => {
  test('is the SHA-256 of its UTF-8, as Node makes it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(hashText(text)).toBe(createHash('sha256').update(text, 'utf8').digest('hex'))
      }),
    )
  })
})

describe('random ids', () => {
  test('do not repeat, and their tokens fit the longest register', () => {
    const ids = Array.from({ length: 1_000 }, () => randomIds.messageId())
    const tokens = Array.from({ length: 1_000 }, () => randomIds.token())
    expect(new Set(ids).size).toBe(1_000)
    expect(new Set(tokens).size).toBe(1_000)
    for (const token of tokens) expect(token).toMatch(/^[\w-]{11}$/)
    const longest = formatLease({ until: 10 ** 15 - 1, state: 'l', claims: 10 ** 9, token: randomIds.token() })
    expect(longest).toHaveLength(LONGEST_LEASE_BYTES)
  })
})

describe('the shard of a message', () => {
  test('depends on its id alone, and spreads ids evenly', () => {
    const counts = Array.from({ length: 8 }, () => 0)
    for (let i = 0; i < 8_000; i++) {
      const shard = shardOf(`message-${i}`, 8)
      expect(shardOf(`message-${i}`, 8)).toBe(shard)
      counts[shard] = (counts[shard] ?? 0) + 1
    }
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150)
    expect(shardOf('any', 1)).toBe(0)
  })
})
