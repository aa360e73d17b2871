import type { Release } from '../../../lib/core/persistence.js'
import { byIdAlone, changeRelease, type FaultyPersistence, faulty } from './faulty.js'

/** Faults in settling. */
export const settlingFaults: readonly FaultyPersistence[] = [
  faulty('settles by id alone', (sound) => {
    const { latestOf, claimDueOutgoingMessages } = byIdAlone(sound)
    return {
      claimDueOutgoingMessages,
      deleteOutgoingMessages: (claims) => sound.deleteOutgoingMessages(claims.map(latestOf)),
    }
  }),
  faulty('releases by id alone', (sound) => {
    const { latestOf, claimDueOutgoingMessages } = byIdAlone(sound)
    const current = (release: Release) => ({ ...release, claim: latestOf(release.claim) })
    return {
      claimDueOutgoingMessages,
      releaseOutgoingMessages: (releases) => sound.releaseOutgoingMessages(releases.map(current)),
    }
  }),
  faulty('answers settled for a row that is gone', (sound) => ({
    deleteOutgoingMessages: async (claims) => {
      const outcomes = await sound.deleteOutgoingMessages(claims)
      return outcomes.map((one) => (one.outcome === 'gone' ? { outcome: 'settled' } : one))
    },
  })),
  changeRelease('gives back at once, whatever was asked', (release) => ({
    ...release,
    notBefore: release.claim.dueAt,
  })),
  changeRelease('gives back a millisecond late', (release) => ({ ...release, notBefore: release.notBefore + 1 })),
  changeRelease('forgets that a message was perhaps published', (release) => ({ ...release, published: 'no' })),
  changeRelease('takes every release for perhaps published', (release) => ({ ...release, published: 'perhaps' })),
  changeRelease('sets failures back', ({ failures: _, ...release }) => ({ ...release, failures: 0 })),
  changeRelease('gives a dead row back instead', ({ dead: _, ...release }) => release),
  changeRelease('loses the reason of a dead row', (release) =>
    release.dead === undefined ? release : { ...release, dead: { ...release.dead, reason: '' } },
  ),
]
