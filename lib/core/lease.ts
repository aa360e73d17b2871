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
 * | `b` | given back, surely not published; not before `until` | from `until` | `recalled` |
 * | `u` | given back, perhaps published; not before `until` | from `until` | `possibly-delivered` |
 * | `r` | recalled; the envelope is removed | never | `already-recalled` |
 * | `d` | dying: being moved to the dead rows | never | `recalled` |
 */
export type LeaseState = 's' | 'l' | 'b' | 'u' | 'r' | 'd'

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
  const match = /^(\d{15})#([slburd])#(\d{1,6})#(.+)$/.exec(text)
  if (!match) return undefined
  const [, until = '', state = '', claims = '', token = ''] = match
  return { until: Number(until), state: state as LeaseState, claims: Number(claims), token }
}

/** A fresh register of a row that was never claimed. */
export const neverClaimed = (token: string): Lease => ({ until: 0, state: 's', claims: 0, token })

/**
 * From when on a row may be claimed, epoch milliseconds; `undefined` for never. Whether the row is due is another question.
 */
export const claimableFrom = (lease: Lease): number | undefined => {
  if (lease.state === 's') return 0
  if (lease.state === 'l') return lease.until + LEASE_MARGIN_MS
  if (lease.state === 'b' || lease.state === 'u') return lease.until
  return undefined
}

/** The register of a claim: leased until `until`, counting the claims that nobody settled or released. */
export const claimed = (seen: Lease, until: number, token: string): Lease => ({
  until,
  state: 'l',
  claims: seen.state === 'l' ? seen.claims + 1 : 1,
  token,
})

/** What a recall of a stored row answers, given its register. */
export const recallAnswer = (
  lease: Lease,
  now: number,
): 'recalled' | 'already-recalled' | 'too-late' | 'possibly-delivered' => {
  if (lease.state === 'r') return 'already-recalled'
  if (lease.state === 'u') return 'possibly-delivered'
  if (lease.state === 'l') return now >= lease.until + LEASE_MARGIN_MS ? 'possibly-delivered' : 'too-late'
  return 'recalled'
}
