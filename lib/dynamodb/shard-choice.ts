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
  /**
   * Keeps what a pass at `now` (epoch milliseconds) learned: when something may be to claim in quiet shards, and in which
   * ones it left due rows.
   */
  remember(now: number, quiet: ReadonlyMap<number, number | undefined>, busy: ReadonlySet<number>): void
  /** Those of the shards in which the last pass left due rows. */
  busy(shards: readonly number[]): ReadonlySet<number>
  /** Has a shard read by the next pass: something was done in it. */
  forget(shard: number): void
}

/** Makes the choice for one process. */
export const createShardChoice = (): ShardChoice => {
  const known = new Map<number, { readonly readAt: number; readonly nextDueAt: number | undefined }>()
  const left = new Set<number>()
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
    busy: (shards) => new Set(shards.filter((shard) => left.delete(shard))),
    remember: (now, quiet, busy) => {
      for (const shard of busy) left.add(shard)
      for (const [shard, nextDueAt] of quiet) known.set(shard, { readAt: now, nextDueAt })
    },
    forget: (shard) => {
      known.delete(shard)
    },
  }
}
