import type { Claim, ClaimResult, OutgoingMessage, Release } from '../../../lib/core/persistence.js'
import { type MemoryPersistence, memoryPersistence } from '../../../lib/memory/persistence.js'

/** A persistence with one fault that others were found to have, or that is easily made. */
export interface FaultyPersistence {
  readonly fault: string
  readonly make: () => MemoryPersistence
}

type Change = (sound: MemoryPersistence) => Partial<MemoryPersistence>

/** A sound persistence, some parts of which are replaced. */
export const faulty = (fault: string, change: Change): FaultyPersistence => ({
  fault,
  make: () => {
    const sound = memoryPersistence()
    return { ...sound, ...change(sound) }
  },
})

/** Changes what every look answers. */
export const changeLook = (fault: string, change: (look: ClaimResult) => ClaimResult) =>
  faulty(fault, (sound) => ({
    claimDueOutgoingMessages: async (request) => change(await sound.claimDueOutgoingMessages(request)),
  }))

/** Changes every claim that a look hands out. */
export const changeClaim = (fault: string, change: (claim: Claim) => Claim) =>
  changeLook(fault, (look) => ({ ...look, claims: look.claims.map(change) }))

/** Changes every message before it is stored. */
export const changeStored = (fault: string, change: (message: OutgoingMessage) => OutgoingMessage) =>
  faulty(fault, (sound) => ({ storeOutgoingMessages: (messages) => sound.storeOutgoingMessages(messages.map(change)) }))

/** Changes every release before it is made. */
export const changeRelease = (fault: string, change: (release: Release) => Release) =>
  faulty(fault, (sound) => ({
    releaseOutgoingMessages: (releases) => sound.releaseOutgoingMessages(releases.map(change)),
  }))

/** Changes every body before it is stored. */
export const changeBody = (fault: string, change: (body: string) => string) =>
  changeStored(fault, (message) => ({
    ...message,
    envelope: { ...message.envelope, body: change(message.envelope.body) },
  }))

/** Gives claims back as of now, surely not published. */
export const giveBackAll = (sound: MemoryPersistence, claims: readonly Claim[], now: number) =>
  sound.releaseOutgoingMessages(claims.map((claim) => ({ claim, published: 'no', notBefore: now })))

/** Remembers the latest claim of each row, as a store does that finds rows by id alone. */
export const byIdAlone = (sound: MemoryPersistence) => {
  const latest = new Map<string, Claim>()
  const latestOf = (claim: Claim) => latest.get(claim.rowId) ?? claim
  return {
    latestOf,
    claimDueOutgoingMessages: async (request: Parameters<MemoryPersistence['claimDueOutgoingMessages']>[0]) => {
      const look = await sound.claimDueOutgoingMessages(request)
      for (const claim of look.claims) latest.set(claim.rowId, claim)
      return look
    },
  }
}
