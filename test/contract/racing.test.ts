import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DelayingPersistence } from '../../lib/core/persistence.js'
import { DUE_AT, sampleMessages } from '../../lib/testing/contract/message-samples.js'
import { contractStores, type RunningStore } from './stores.js'

const SHARDS = [0, 1, 2, 3]

/** Claims and settles until nothing is left; answers what it claimed. */
const drain = async (persistence: DelayingPersistence, limit: number): Promise<string[]> => {
  const drained: string[] = []
  for (;;) {
    const { claims, more } = await persistence.claimDueOutgoingMessages({
      now: DUE_AT,
      dueBefore: DUE_AT,
      limit,
      leaseMs: 30_000,
      shards: SHARDS,
    })
    drained.push(...claims.map(({ rowId }) => rowId))
    const settled = await persistence.deleteOutgoingMessages(claims)
    expect(settled.filter(({ outcome }) => outcome !== 'settled')).toEqual([])
    if (claims.length === 0 && !more) return drained
  }
}

const present = contractStores.filter((store) => store.unavailable() === undefined)

describe.each(present)('claimers and a recaller racing on $name', (store) => {
  let running: RunningStore | undefined
  beforeAll(async () => {
    running = await store.start()
  })
  afterAll(async () => {
    await running?.stop()
  })

  // One row a request takes its time on the emulators that know nothing else.
  const rows = store.name.endsWith('single') ? 120 : 3_000

  test(`of ${rows} rows none is claimed twice, none is both claimed and recalled, and none is left`, async () => {
    if (running === undefined) throw new Error(`${store.name} has not started`)
    const persistence = await running.create()
    const messages = sampleMessages(rows, 'row', (index) => ({ dueAt: DUE_AT - rows + index, shard: index % 4 }))
    const stored = await persistence.storeOutgoingMessages(messages)
    expect(stored.filter(({ outcome }) => outcome !== 'stored')).toEqual([])

    // From the end, where the claimers come last, so that both get their share.
    const recallFromTheEnd = async (): Promise<string[]> => {
      const recalled: string[] = []
      for (const message of messages.toReversed()) {
        const answer = await persistence.recallOutgoingMessage(message, DUE_AT)
        if (answer === 'recalled') recalled.push(message.rowId)
        else expect(answer).toBe('too-late')
      }
      return recalled
    }
    const [recalled, ...drained] = await Promise.all([
      recallFromTheEnd(),
      ...[100, 40, 7].map((limit) => drain(persistence, limit)),
    ])

    expect([...recalled, ...drained.flat()].sort()).toEqual(messages.map(({ rowId }) => rowId).sort())
    expect(await persistence.measureBacklog(DUE_AT)).toMatchObject({ due: 0, dead: 0 })
    expect(recalled.length).toBeGreaterThan(0)
    expect(drained.flat().length).toBeGreaterThan(0)
  }, 60_000)
})
