import { type FaultyPersistence, faulty } from './faulty.js'

/** Faults in counting. */
export const countingFaults: readonly FaultyPersistence[] = [
  faulty('counts a millisecond early', (sound) => ({ measureBacklog: (now) => sound.measureBacklog(now + 1) })),
  faulty('does not count the dead', (sound) => ({
    measureBacklog: async (now) => ({ ...(await sound.measureBacklog(now)), dead: 0 }),
  })),
  faulty('lists one dead row too many', (sound) => ({
    inspection: { ...sound.inspection, listDead: (limit) => sound.inspection.listDead(limit + 1) },
  })),
  faulty('lets a worker take a lease that it did not see', (sound) => ({
    coordination: {
      ...sound.coordination,
      takeWorker: async (next) => sound.coordination.takeWorker(next, await sound.coordination.readWorker()),
    },
  })),
  faulty('does not see that a worker renewed', (sound) => ({
    coordination: {
      ...sound.coordination,
      takeWorker: async (next, seen) => {
        const now = await sound.coordination.readWorker()
        return sound.coordination.takeWorker(next, seen && now && { ...seen, leaseUntil: now.leaseUntil })
      },
    },
  })),
  faulty('lets the read shards shrink', (sound) => {
    let read = 1
    return {
      coordination: {
        ...sound.coordination,
        readShards: async () => ({ write: 1, read }),
        growShards: async (atLeast) => {
          read = atLeast
          return { write: 1, read }
        },
      },
    }
  }),
]
