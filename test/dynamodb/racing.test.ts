import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shardOf } from '../../lib/core/ids.js'
import type { Batching } from '../../lib/dynamodb/table.js'
import { bodyOfBytes, DUE_AT, sampleMessage } from '../../lib/testing/contract/message-samples.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { openPersistence } from './open-persistence.js'

const ROWS = 3_000
const now = DUE_AT + ROWS

describe.skipIf(whyNoDynoxide() !== undefined)('three claimers and a recaller on one table', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb('dynoxide')
  })
  afterAll(() => emulator.stop())

  test.each(['partiql', 'single'] as const satisfies readonly Batching[])(
    `of ${ROWS} rows none is claimed twice, and none both claimed and recalled (%s)`,
    async (batching) => {
      const { persistence, subject, beside, items } = await openPersistence(emulator, { batching })
      const messages = Array.from({ length: ROWS }, (_, index) => {
        const id = `message-${index}`
        const body = bodyOfBytes(index % 10 === 0 ? 2_000 : 200)
        return sampleMessage({ id, shard: shardOf(id, 8), dueAt: DUE_AT + index, body })
      })
      for (let at = 0; at < ROWS; at += 500) await subject.storeNew(...messages.slice(at, at + 500))

      const claimed = new Map<string, number>()
      const settled = new Map<string, number>()
      const count = (map: Map<string, number>, rowId: string) => map.set(rowId, (map.get(rowId) ?? 0) + 1)
      const claimer = async () => {
        const mine = beside()
        for (let idle = 0; idle < 3; ) {
          const { claims } = await mine.claimDueOutgoingMessages({ now, dueBefore: now, limit: 100, leaseMs: 30_000 })
          idle = claims.length === 0 ? idle + 1 : 0
          for (const { rowId, envelope } of claims) {
            count(claimed, rowId)
            expect(typeof envelope).toBe('object')
          }
          const outcomes = await mine.deleteOutgoingMessages(claims)
          for (const [index, { outcome }] of outcomes.entries())
            if (outcome === 'settled') count(settled, claims[index]?.rowId ?? '')
        }
      }
      const recalls = new Map<string, string>()
      const recaller = async () => {
        const mine = beside()
        // From the middle on, so that the claimers meet it.
        for (const message of [...messages].reverse().filter((_, index) => index % 3 === 0)) {
          recalls.set(message.rowId, await mine.recallOutgoingMessage(message, now))
        }
      }
      await Promise.all([claimer(), claimer(), claimer(), recaller()])

      const answers = new Set(recalls.values())
      expect([...answers].sort()).toEqual(['recalled', 'too-late'])
      for (const { rowId } of messages) {
        const recalled = recalls.get(rowId) === 'recalled'
        expect([rowId, claimed.get(rowId) ?? 0, settled.get(rowId) ?? 0]).toEqual([
          rowId,
          recalled ? 0 : 1,
          recalled ? 0 : 1,
        ])
      }
      // An hour later nothing is left to claim, and what the recalls left behind goes.
      const later = { now: now + 3_600_000, dueBefore: now + 3_600_000, limit: 100, leaseMs: 30_000 }
      expect(await persistence.claimDueOutgoingMessages(later)).toMatchObject({ claims: [], more: false })
      expect(await items('due#')).toEqual([])
    },
    60_000,
  )
})
