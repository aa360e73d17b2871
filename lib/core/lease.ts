/**
 * The lease register: the one string of a row that claim, settle, release and recall compare and swap.
 *
 * `<until, 15 digits>#<state>#<claims>#<token>`. Every write that changes anything in a row writes a new register with a
 * new token, and only `WHERE lease = <the value that was seen>`; so of two writers exactly one wins, a stale claim can
 * neither settle nor publish, and a row that is gone is never brought back.
 *
 * | state | meaning | claimable | a recall answers |
 * | --- | --- | --- | --- |
 * | `s` | never claimed | yes | `recalled` |
 * | `l` | leased until `until` | from `until` + margin | `too-late`; from `until` + margin `possibly-delivered` |
 * | `m` | as `l`, and an earlier claim may have published | from `until` + margin | as `l` |
 * | `b` | given back, surely not published; not before `until` | from `until` | `recalled` |
 * | `u` | given back, perhaps published; not before `until` | from `until` | `possibly-delivered` |
 * | `r` | recalled; the envelope is removed | never | `already-recalled` |
 * | `d` | dead, or being moved there; surely not published | never | `recalled` |
 * | `p` | dead, or being moved there; perhaps published | never | `possibly-delivered` |
 * | `a` | arriving: written by a move that is made only when the row it comes from says so | never | what that row answers |
 * | `t` | moved away to `until`; the new row may not be in force yet | never | what the new row answers |
 * | `g` | moved away to `until`; the new row is in force | never | what the new row answers |
 *
 * Without `m` and `p` a row that was perhaps published, then claimed again and given back unpublished (or given up),
 * would be `b` (or `d`), and a recall would answer `recalled` for a message that its receiver may have.
 */
export type LeaseState = 's' | 'l' | 'm' | 'b' | 'u' | 'r' | 'd' | 'p' | 'a' | 't' | 'g'

/** A register, taken apart. */
export interface Lease {
  /** Epoch milliseconds; what it means depends on the state. */
  readonly until: number
  readonly state: LeaseState
  /** How many claims in a row ended without a settle or a release, this one included. */
  readonly claims: number
  /** New at every write, so that no register value ever repeats. */
  readonly token: string
}

/**
 * How long after its `until` a lease still belongs to its holder, in milliseconds: what the clocks of two machines may
 * differ by. For others a lease ends at `until` plus this; its holder starts no publish close to `until` minus this.
 */
export const LEASE_MARGIN_MS = 5_000

/** The digits of an instant in keys and registers, so that text order is time order (up to the year 33658). */
export const INSTANT_DIGITS = 15

/** The latest instant that keys and registers can hold, epoch milliseconds. */
export const LATEST_INSTANT = 10 ** INSTANT_DIGITS - 1

/** The longest register ever written, in bytes: rows are measured with it, so that a claim can't make a thin row thick. */
export const LONGEST_LEASE_BYTES = INSTANT_DIGITS + 1 + 1 + 1 + 6 + 1 + 11

const MOST_CLAIMS = 999_999

/** Writes an instant (epoch milliseconds) with as many digits as keys have. */
export const formatInstant = (at: number): string => String(at).padStart(INSTANT_DIGITS, '0')

/** Writes a register. */
export const formatLease = (lease: Lease): string =>
  `${formatInstant(lease.until)}#${lease.state}#${Math.min(lease.claims, MOST_CLAIMS)}#${lease.token}`

/** Reads a register; `undefined` if the text is none, which the caller reports as a bad row. */
export const parseLease = (text: string): Lease | undefined => {
  const match = /^(\d{15})#([slmburdpatg])#(\d{1,6})#(.+)$/.exec(text)
  if (!match) return undefined
  const [, until = '', state = '', claims = '', token = ''] = match
  return { until: Number(until), state: state as LeaseState, claims: Number(claims), token }
}

/** A fresh register of a row that was never claimed. */
export const neverClaimed = (token: string): Lease => ({ until: 0, state: 's', claims: 0, token })

const isLeased = (lease: Lease) => lease.state === 'l' || lease.state === 'm'

/**
 * From when on a row may be claimed, epoch milliseconds; `undefined` for never. Whether the row is due is another question.
 */
export const claimableFrom = (lease: Lease): number | undefined => {
  if (lease.state === 's') return 0
  if (isLeased(lease)) return lease.until + LEASE_MARGIN_MS
  if (lease.state === 'b' || lease.state === 'u') return lease.until
  return undefined
}

/**
 * The register of a claim: leased until `until`, counting the claims that nobody settled or released. A claim that just
 * ended may have published, and so may one given back as perhaps published: the new register remembers that.
 */
export const claimed = (seen: Lease, until: number, token: string): Lease => ({
  until,
  state: isLeased(seen) || seen.state === 'u' ? 'm' : 'l',
  claims: isLeased(seen) ? seen.claims + 1 : 1,
  token,
})

/** The register of a row given back, not claimable before `notBefore` (epoch milliseconds). `held` is the claim's own. */
export const released = (held: Lease, published: 'no' | 'perhaps', notBefore: number, token: string): Lease => ({
  until: notBefore,
  state: published === 'perhaps' || held.state === 'm' ? 'u' : 'b',
  claims: 0,
  token,
})

/** The register of a row given up at `diedAt` (epoch milliseconds). `held` is the claim's own. */
export const givenUp = (held: Lease, published: 'no' | 'perhaps', diedAt: number, token: string): Lease => ({
  until: diedAt,
  state: published === 'perhaps' || held.state === 'm' ? 'p' : 'd',
  claims: held.claims,
  token,
})

/** The register of a row withdrawn at `now` (epoch milliseconds), and of the tombstone where no row was. */
export const withdrawn = (now: number, token: string): Lease => ({ until: now, state: 'r', claims: 0, token })

/** The register of a row that a move writes before the move is made. Its token is that of the move. */
export const arriving = (token: string): Lease => ({ until: 0, state: 'a', claims: 0, token })

/**
 * The register that makes a move: of the row that moves away to `to` (epoch milliseconds). It has the token of the move, so
 * the row that arrives knows its own.
 */
export const movedAway = (to: number, token: string): Lease => ({ until: to, state: 't', claims: 0, token })

/** The register of a row that moved away, once its new row is in force. */
export const movedForGood = (away: Lease, token: string): Lease => ({ ...away, state: 'g', token })

/** The register of a row whose move is made. `from` is that of the row it comes from, before the move. */
export const arrived = (from: Lease, token: string): Lease => ({
  until: 0,
  state: isLeased(from) || from.state === 'u' || from.state === 'p' ? 'u' : 's',
  claims: 0,
  token,
})

/** The same register with a new token: whoever saw the old one finds that it is not the same any more. */
export const renewed = (lease: Lease, token: string): Lease => ({ ...lease, token })

/** Whether a row has moved away: what counts is where to. */
export const isMovedAway = (lease: Lease | undefined): boolean => lease?.state === 't' || lease?.state === 'g'

/** What a recall of a stored row answers, given its register. Of a row that moves, the other one has to be asked. */
export const recallAnswer = (
  lease: Lease,
  now: number,
): 'recalled' | 'already-recalled' | 'too-late' | 'possibly-delivered' => {
  if (lease.state === 'r') return 'already-recalled'
  if (lease.state === 'u' || lease.state === 'p') return 'possibly-delivered'
  if (isLeased(lease)) return now >= lease.until + LEASE_MARGIN_MS ? 'possibly-delivered' : 'too-late'
  // Nothing is withdrawn here, which is what this answer says at least.
  if (lease.state === 'a' || isMovedAway(lease)) return 'too-late'
  return 'recalled'
}
