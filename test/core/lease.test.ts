import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  claimableFrom,
  claimed,
  formatInstant,
  formatLease,
  givenUp,
  LATEST_INSTANT,
  LEASE_MARGIN_MS,
  type Lease,
  LONGEST_LEASE_BYTES,
  neverClaimed,
  parseLease,
  recallAnswer,
  released,
  withdrawn,
} from '../../lib/core/lease.js'

const anyInstant = fc.integer({ min: 0, max: LATEST_INSTANT })
const anyToken = fc.stringMatching(/^[\w-]{11}$/)
const anyLease: fc.Arbitrary<Lease> = fc.record({
  until: anyInstant,
  state: fc.constantFrom('s', 'l', 'm', 'b', 'u', 'r', 'd', 'p'),
  claims: fc.integer({ min: 0, max: 999_999 }),
  token: anyToken,
})

const at = (until: number, state: Lease['state'], claims = 1): Lease => ({ until, state, claims, token: 'seen' })

describe('the register', () => {
  test('comes back from its text, and is never longer than rows are measured with', () => {
    fc.assert(
      fc.property(anyLease, (lease) => {
        expect(parseLease(formatLease(lease))).toEqual(lease)
        expect(formatLease(lease).length).toBeLessThanOrEqual(LONGEST_LEASE_BYTES)
      }),
    )
  })

  test('counts no further than it has digits for', () => {
    expect(formatLease(at(0, 'l', 10 ** 9))).toContain('#999999#')
  })

  test.each(['', '1#s#0#token', '000000000000000#x#0#token', '000000000000000#s#0#', '0000000000000001#s#0#token'])(
    'is not read from %j',
    (text) => {
      expect(parseLease(text)).toBeUndefined()
    },
  )

  test('orders as text as its instants do', () => {
    fc.assert(
      fc.property(anyInstant, anyInstant, (one, other) => {
        expect(formatInstant(one) < formatInstant(other)).toBe(one < other)
      }),
    )
  })
})

describe('a row', () => {
  test.each<[string, Lease, number | undefined]>([
    ['that was never claimed may be claimed at any time', neverClaimed('t'), 0],
    ['under a lease may be claimed a margin after its end', at(1_000, 'l'), 1_000 + LEASE_MARGIN_MS],
    ['under a later lease, as under a first', at(1_000, 'm'), 1_000 + LEASE_MARGIN_MS],
    ['given back may be claimed from the given instant, without a margin', at(1_000, 'b'), 1_000],
    ['given back unsure, likewise', at(1_000, 'u'), 1_000],
    ['that was recalled is never claimed', at(1_000, 'r'), undefined],
    ['that is dead is never claimed', at(1_000, 'd'), undefined],
    ['that is dead and perhaps published is never claimed', at(1_000, 'p'), undefined],
  ])('%s', (_what, lease, from) => {
    expect(claimableFrom(lease)).toBe(from)
  })

  test.each<[string, Lease, number, string]>([
    ['never claimed', neverClaimed('t'), 5_000, 'recalled'],
    ['leased', at(1_000, 'l'), 1_000 + LEASE_MARGIN_MS - 1, 'too-late'],
    ['leased, and the lease is over', at(1_000, 'l'), 1_000 + LEASE_MARGIN_MS, 'possibly-delivered'],
    ['leased again', at(1_000, 'm'), 1_000, 'too-late'],
    ['leased again, and the lease is over', at(1_000, 'm'), 1_000 + LEASE_MARGIN_MS, 'possibly-delivered'],
    ['given back, surely not published', at(1_000, 'b'), 0, 'recalled'],
    ['given back, perhaps published', at(1_000, 'u'), 0, 'possibly-delivered'],
    ['recalled', at(1_000, 'r'), 0, 'already-recalled'],
    ['dead, surely not published', at(1_000, 'd'), 0, 'recalled'],
    ['dead, perhaps published', at(1_000, 'p'), 0, 'possibly-delivered'],
  ])('%s answers a recall truthfully', (_what, lease, now, answer) => {
    expect(recallAnswer(lease, now)).toBe(answer)
  })

  test('counts the claims that nobody ended, and begins anew after a release', () => {
    const first = claimed(neverClaimed('t'), 30_000, 'a')
    const second = claimed(first, 70_000, 'b')
    expect([first.claims, second.claims]).toEqual([1, 2])
    const back = released(second, 'no', 71_000, 'c')
    expect(back.claims).toBe(0)
    expect(claimed(back, 99_000, 'd').claims).toBe(1)
    expect(withdrawn(5, 'e')).toEqual({ until: 5, state: 'r', claims: 0, token: 'e' })
  })
})

/** How a claim ends. */
type Ending = 'nobody ends it' | 'given back' | 'given back unsure'

describe('a row that was perhaps published', () => {
  test('is never said to be recalled, and any other is, whatever came in between', () => {
    const anyEnding = fc.constantFrom<Ending>('nobody ends it', 'given back', 'given back unsure')
    fc.assert(
      fc.property(fc.array(anyEnding, { maxLength: 12 }), fc.boolean(), (endings, dies) => {
        let lease = neverClaimed('t0')
        let isUnsure = false
        let now = 0
        const claimIt = (token: string) => {
          now = Math.max(now, claimableFrom(lease) ?? now)
          lease = claimed(lease, now + 30_000, token)
          expect(recallAnswer(lease, now)).toBe('too-late')
        }
        for (const [index, ending] of endings.entries()) {
          claimIt(`c${index}`)
          isUnsure ||= ending !== 'given back'
          if (ending === 'nobody ends it') continue
          lease = released(lease, ending === 'given back' ? 'no' : 'perhaps', now, `r${index}`)
          expect(recallAnswer(lease, now)).toBe(isUnsure ? 'possibly-delivered' : 'recalled')
        }
        if (dies) {
          claimIt('last')
          lease = givenUp(lease, 'no', now, 'dead')
        }
        expect(recallAnswer(lease, now + 10 ** 6)).toBe(isUnsure ? 'possibly-delivered' : 'recalled')
      }),
    )
  })
})
