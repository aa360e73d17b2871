import { LEASE_MARGIN_MS } from '../../../lib/core/lease.js'
import type { ClaimResult } from '../../../lib/core/persistence.js'
import { changeClaim, changeLook, type FaultyPersistence, faulty, giveBackAll } from './faulty.js'

/** Faults in claiming. */
export const claimingFaults: readonly FaultyPersistence[] = [
  faulty('claims a millisecond early', (sound) => ({
    claimDueOutgoingMessages: (request) =>
      sound.claimDueOutgoingMessages({ ...request, dueBefore: request.dueBefore + 1 }),
  })),
  faulty('claims a millisecond late', (sound) => ({
    claimDueOutgoingMessages: (request) =>
      sound.claimDueOutgoingMessages({ ...request, dueBefore: request.dueBefore - 1 }),
  })),
  faulty('judges leases by the look-ahead', (sound) => ({
    claimDueOutgoingMessages: (request) => sound.claimDueOutgoingMessages({ ...request, now: request.dueBefore }),
  })),
  faulty('forgets the margin of a lease', (sound) => ({
    claimDueOutgoingMessages: (request) =>
      sound.claimDueOutgoingMessages({ ...request, leaseMs: request.leaseMs - LEASE_MARGIN_MS }),
  })),
  faulty('looks ahead by itself', (sound) => ({
    claimDueOutgoingMessages: (request) =>
      sound.claimDueOutgoingMessages({ ...request, dueBefore: request.dueBefore + 500 }),
  })),
  faulty('ignores the shards asked for', (sound) => ({
    claimDueOutgoingMessages: ({ shards: _, ...request }) => sound.claimDueOutgoingMessages(request),
  })),
  faulty('reads shard 0 only', (sound) => ({
    claimDueOutgoingMessages: (request) =>
      sound.claimDueOutgoingMessages({ ...request, shards: request.shards ?? [0] }),
  })),
  faulty('ignores maxBytes', (sound) => ({
    claimDueOutgoingMessages: ({ maxBytes: _, ...request }) => sound.claimDueOutgoingMessages(request),
  })),
  faulty('never claims a row above maxBytes', (sound) => ({
    claimDueOutgoingMessages: async (request) => {
      const look = await sound.claimDueOutgoingMessages(request)
      const tooLarge = look.claims.filter(({ bytes }) => bytes > (request.maxBytes ?? Number.POSITIVE_INFINITY))
      await giveBackAll(sound, tooLarge, request.now)
      return { ...look, claims: look.claims.filter((claim) => !tooLarge.includes(claim)) }
    },
  })),
  faulty('counts held rows against the limit, so that they hide the rows behind them', (sound) => {
    let held = 0
    return {
      claimDueOutgoingMessages: async (request) => {
        const look = await sound.claimDueOutgoingMessages({ ...request, limit: Math.max(0, request.limit - held) })
        held += look.claims.length
        return look
      },
    }
  }),
  faulty('lets two claimers of one moment have the same rows', (sound) => {
    let shared: Promise<ClaimResult> | undefined
    return {
      claimDueOutgoingMessages: (request) => {
        shared ??= sound.claimDueOutgoingMessages(request).finally(() => {
          shared = undefined
        })
        return shared
      },
    }
  }),
  changeLook('hands out the newest first', (look) => ({ ...look, claims: [...look.claims].reverse() })),
  changeLook('never says that there is more', (look) => ({ ...look, more: false })),
  changeLook('always says that there is more', (look) => ({ ...look, more: true })),
  changeLook('never tells what comes next', (look) => ({ ...look, nextDueAt: undefined })),
  changeLook('tells the next instant a millisecond late', (look) => ({
    ...look,
    nextDueAt: look.nextDueAt === undefined ? undefined : look.nextDueAt + 1,
  })),
  changeClaim('does not count claims', (claim) => ({ ...claim, claims: 1 })),
  changeClaim('counts characters as bytes', (claim) => ({ ...claim, bytes: claim.bytes - 6 })),
  changeClaim('loses the target of a redelivery', ({ target: _, ...claim }) => claim),
  changeClaim('loses the attempt of a redelivery', (claim) => ({ ...claim, attempt: 1 })),
]
