import type { ClaimRequest, ShardCounts } from '../core/persistence.js'

/** How often a quiet shard that no sender writes to is read, in milliseconds. */
const IDLE_SHARD_MS = 60_000

/** Which shards a pass reads, and in what order. */
export interface ShardChoice {
  /** All shards that senders write to; of the others, those that may have something to claim, and each once a minute. */
  choose(
    counts: ShardCounts,
    request: Pick<ClaimRequest, 'now' | 'dueBefore'>,
  ): { readonly shards: readonly number[]; readonly skippedNextDueAt: number | undefined }
  /** The same shards, begun at another one at every call, so that none comes last for ever. */
  rotate(shards: readonly number[]): readonly number[]
  /** Keeps what a pass at `now` (epoch milliseconds) learned of quiet shards: when something may be to claim there. */
  remember(now: number, quiet: ReadonlyMap<number, number | undefined>): void
  /** Has a shard read by the next pass: something was done in it. */
  forget(shard: number): void
}

/** Makes the choice for one process. */
export const createShardChoice = (): ShardChoice => {
  const known = new Map<number, { readonly readAt: number; readonly nextDueAt: number | undefined }>()
  let turn = 0
  return {
    choose: ({ write, read }, { now, dueBefore }) => {
      const shards: number[] = []
      let skippedNextDueAt: number | undefined
      for (let shard = 0; shard < read; shard++) {
        const last = shard < write ? undefined : known.get(shard)
        const isFresh = last !== undefined && now >= last.readAt && now < last.readAt + IDLE_SHARD_MS
        if (last === undefined || !isFresh || (last.nextDueAt ?? Number.POSITIVE_INFINITY) <= dueBefore)
          shards.push(shard)
        else if (last.nextDueAt !== undefined)
          skippedNextDueAt = Math.min(skippedNextDueAt ?? last.nextDueAt, last.nextDueAt)
      }
      return { shards, skippedNextDueAt }
    },
    rotate: (shards) => {
      if (shards.length === 0) return shards
      const first = turn++ % shards.length
      return [...shards.slice(first), ...shards.slice(0, first)]
    },
    remember: (now, quiet) => {
      for (const [shard, nextDueAt] of quiet) known.set(shard, { readAt: now, nextDueAt })
    },
    forget: (shard) => {
      known.delete(shard)
    },
  }
}
