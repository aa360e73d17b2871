import type { Coordination, PauseState, ShardCounts, WorkerLease } from '../core/persistence.js'

const isSame = (one: WorkerLease | undefined, other: WorkerLease | undefined): boolean =>
  one?.owner === other?.owner &&
  one?.epoch === other?.epoch &&
  one?.leaseUntil === other?.leaseUntil &&
  one?.stopsAt === other?.stopsAt

/** What the buses and dispatchers of this process agree on. */
export const createCoordination = (writeShards: number): Coordination => {
  let counts: ShardCounts = { write: writeShards, read: writeShards }
  let worker: WorkerLease | undefined
  let pause: PauseState = { paused: false, version: 0 }
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
    readPause: async () => pause,
    setPause: async (next) => {
      if (next.version !== pause.version + 1) return false
      pause = { ...next }
      return true
    },
  }
}
