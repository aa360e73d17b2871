import { expect, test } from 'vitest'
import { PostdateError } from '../../../lib/core/errors.js'
import { LEASE_MARGIN_MS } from '../../../lib/core/lease.js'
import type { SettleOutcome } from '../../../lib/core/persistence.js'
import { setStage } from './stage.js'

const HOUR_MS = 3_600_000

const denied: SettleOutcome = {
  outcome: 'failed',
  error: new PostdateError('persistence.access-denied', { persistence: 'memory', operation: 'settle', reason: 'no' }),
}

/** A store that lets rows be claimed and, until it may, not be removed; nor given back, if so. */
const setUp = (mayRelease: boolean) => {
  const permissions = { mayDelete: false }
  const stage = setStage({
    wrap: (store) => ({
      ...store,
      deleteOutgoingMessages: async (claims) =>
        permissions.mayDelete ? store.deleteOutgoingMessages(claims) : claims.map(() => denied),
      releaseOutgoingMessages: async (releases) =>
        mayRelease ? store.releaseOutgoingMessages(releases) : releases.map(() => denied),
    }),
  })
  return { ...stage, permissions }
}

test('a published row that can not be removed goes out again ever more seldom, at last every quarter of an hour', async () => {
  const { clock, put, run, sent, eventsOf } = setUp(true)
  await put(['a', 0])
  const { stop } = run()
  await clock.advanceBy(2 * HOUR_MS)
  await stop()
  const gaps = sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0))
  expect(sent.length).toBeLessThan(15)
  for (const [index, gap] of gaps.entries()) {
    expect(gap).toBeGreaterThanOrEqual(Math.min(900_000, (gaps[index - 1] ?? 0) * 1.5))
    expect(gap).toBeLessThan(940_000)
  }
  const lost = eventsOf('settle-lost')
  expect(lost.map(({ againAt }) => againAt).slice(0, gaps.length)).toEqual(sent.slice(1).map(({ at }) => at))
})

test('a published row that can not be removed is removed once that is permitted, and stays so', async () => {
  const { clock, put, run, sent, rowsLeft, permissions } = setUp(true)
  await put(['a', 0])
  const { stop } = run()
  await clock.advanceBy(HOUR_MS)
  permissions.mayDelete = true
  const before = sent.length
  await clock.advanceBy(2 * HOUR_MS)
  await stop()
  expect(sent.length).toBe(before + 1)
  expect(await rowsLeft()).toEqual([])
})

test('a recall of a published row that can not be removed does not say that it was in time', async () => {
  const { clock, store, put, run } = setUp(true)
  const [row] = await put(['a', 0])
  const { stop } = run()
  await clock.advanceBy(40_000)
  await stop()
  expect(row && (await store.recallOutgoingMessage(row, clock.now()))).toBe('possibly-delivered')
})

test('a published row that can be neither removed nor given back waits for the end of its lease, and that is said', async () => {
  const { clock, startAt, put, run, sent, eventsOf } = setUp(false)
  await put(['a', 0])
  const { stop } = run()
  await clock.advanceBy(40_000)
  expect(sent.map(({ at }) => at - startAt)).toEqual([0, 30_000 + LEASE_MARGIN_MS])
  expect(eventsOf('settle-lost')).toMatchObject([{ rowId: 'a', why: 'failed' }])
  expect(eventsOf('settle-lost')[0]).not.toHaveProperty('againAt')
  await stop()
})
