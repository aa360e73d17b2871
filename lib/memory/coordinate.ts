import type { Coordination, ShardCounts, WorkerLease } from '../core/persistence.js'

const isSame = (one: WorkerLease | undefined, other: WorkerLease | undefined): boolean =>
  one?.owner === other?.owner &&
  one?.epoch === other?.epoch &&
  one?.leaseUntil === other?.leaseUntil &&
  one?.stopsAt === other?.stopsAt

/** What the buses and dispatchers of this process agree on. */
export const createCoordination = (writeShards: number): Coordination => {
  let counts: ShardCounts = { write: writeShards, read: writeShards }
  let worker: WorkerLease | undefined
  return {
    readShards: async () => counts,
    growShards: async (atLeast) => {
      counts = { ...counts, read: Math.max(counts.read, atLeast) }
      return counts
    },
    readWorker: async () => worker,
    takeWorker: async (next, seen) => {
      if (!isSame(worker, seen)) return false
      worker = { ...next }
      return true
    },
  }
}
