import type { ListedRow } from './inspection.js'
import { claimableFrom, LEASE_MARGIN_MS, type Lease, recallAnswer } from './lease.js'

const stateOf = (lease: Lease, now: number): ListedRow['state'] => {
  if (lease.state === 'r') return 'recalled'
  if (lease.state === 'd' || lease.state === 'p') return 'dead'
  return recallAnswer(lease, now) === 'too-late' ? 'leased' : 'waiting'
}

const isPerhapsPublished = ({ state, until }: Lease, now: number): boolean =>
  ['m', 'u', 'p'].includes(state) || (state === 'l' && now >= until + LEASE_MARGIN_MS)

/** What the register of a row tells operators. One that can't be read tells that nobody holds the row. */
export const describeLease = (
  lease: Lease | undefined,
  dueAt: number,
  now: number,
): Pick<ListedRow, 'state' | 'notBefore' | 'perhapsPublished'> => {
  if (lease === undefined) return { state: 'waiting', perhapsPublished: true }
  const from = claimableFrom(lease)
  return {
    state: stateOf(lease, now),
    ...(from !== undefined && from > dueAt && { notBefore: from }),
    perhapsPublished: isPerhapsPublished(lease, now),
  }
}
