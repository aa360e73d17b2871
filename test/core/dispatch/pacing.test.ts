import { describe, expect, test } from 'vitest'
import { LEASE_MARGIN_MS } from '../../../lib/core/lease.js'
import type { ClaimResult } from '../../../lib/core/persistence.js'
import { envelopeOf, failAll, idsUpTo, publishAll, type SeenLook, setStage } from './stage.js'

const perSecond = (looks: readonly SeenLook[], startAt: number): number[] => {
  const counts: number[] = []
  for (const { at } of looks) {
    const second = Math.floor((at - startAt) / 1_000)
    counts[second] = (counts[second] ?? 0) + 1
  }
  return Array.from(counts, (count) => count ?? 0)
}

const gate = () => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

describe('a dispatcher looks at the store', () => {
  test('once a second when nothing is due', async () => {
    const { clock, startAt, run, looks, put } = setStage()
    await put(['far', 86_400_000])
    const { stop } = run()
    await clock.advanceBy(9_999)
    await stop()
    expect(perSecond(looks, startAt)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
  })

  test('twice at most for a row that falls due between two polls, with any look-ahead', async () => {
    for (const lookAheadMs of [0, 100, 1_000]) {
      const { clock, startAt, run, looks, put, sent } = setStage({ dispatch: { lookAheadMs, pollMs: 10_000 } })
      await put(['a', 7_777])
      const { stop } = run()
      await clock.advanceBy(9_000)
      await stop()
      expect(sent.map(({ at }) => at - startAt)).toEqual([7_777])
      expect(looks.length).toBeLessThanOrEqual(3)
    }
  })

  test('seldom while its hand is full in number', async () => {
    const { opened, open } = gate()
    const { clock, run, looks, put, sent } = setStage({
      dispatch: { maxInHand: 40 },
      answer: async (batch, nth) => {
        await opened
        return publishAll(batch, nth)
      },
    })
    await put(...idsUpTo(200).map((id) => [id, 0] as const))
    const { stop } = run()
    await clock.advanceBy(3_999)
    expect(looks).toHaveLength(1)
    open()
    await clock.advanceBy(1_000)
    await stop()
    expect(sent).toHaveLength(200)
    // Each look claimed at least 25 rows, the store's write request.
    expect(looks.length).toBeLessThanOrEqual(1 + 200 / 25 + 2)
  })

  test('not once a row while its hand is full in bytes', async () => {
    const { clock, run, looks, put, sent } = setStage({
      dispatch: { maxInHandBytes: 100_000, maxPublishing: 1 },
      limits: { maxBatchMessages: 1 },
      answer: async (batch, nth) => {
        await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + 5, resolve))
        return publishAll(batch, nth)
      },
    })
    const row = (id: string) => [id, 0, { envelope: envelopeOf(id, `"${'x'.repeat(10_000)}"`) }] as const
    await put(...idsUpTo(200).map(row))
    const { stop } = run()
    await clock.advanceBy(2_000)
    await stop()
    expect(sent).toHaveLength(200)
    expect(looks.length).toBeLessThan(200 / 2)
  })

  test('once a second while another holds what is due, and then at the instant when that lease has ended', async () => {
    const { clock, startAt, run, looks, put, sent, store } = setStage()
    await put(...idsUpTo(50).map((id) => [id, 0] as const))
    await store.claimDueOutgoingMessages({ now: startAt, dueBefore: startAt, limit: 50, leaseMs: 7_777 })
    const { stop } = run()
    await clock.advanceBy(14_999)
    await stop()
    expect(new Set(sent.map(({ at }) => at - startAt))).toEqual(new Set([7_777 + LEASE_MARGIN_MS]))
    expect(Math.max(...perSecond(looks, startAt))).toBeLessThanOrEqual(3)
  })

  test('at the pace of its probes while the topic is down', async () => {
    const { clock, startAt, run, looks, put } = setStage({ answer: failAll('topic') })
    await put(...idsUpTo(300).map((id) => [id, 0] as const))
    const { stop } = run()
    await clock.advanceBy(60_000)
    await stop()
    const later = looks.filter(({ at }) => at > startAt).map(({ at }) => at - startAt)
    expect(later).toEqual([1_000, 3_000, 7_000, 15_000, 30_000, 45_000, 60_000])
  })

  test('once a second when the topic is down and nothing is there to probe it with', async () => {
    const { clock, startAt, run, looks, put, store } = setStage({ answer: failAll('topic') })
    const [row] = await put(['a', 0])
    const { stop } = run()
    await clock.advanceBy(100)
    if (row !== undefined) await store.recallOutgoingMessage(row, clock.now())
    await clock.advanceBy(9_000)
    await stop()
    expect(Math.max(...perSecond(looks, startAt))).toBeLessThanOrEqual(2)
  })

  test('once a second when every look fails', async () => {
    const { clock, startAt, run, looks, eventsOf } = setStage({
      wrap: (store) => ({
        ...store,
        claimDueOutgoingMessages: async () => {
          throw new Error('throttled')
        },
      }),
    })
    const { stop } = run()
    await clock.advanceBy(4_999)
    await stop()
    expect(perSecond(looks, startAt)).toEqual([1, 1, 1, 1, 1])
    expect(eventsOf('pass-failed')).toHaveLength(5)
  })

  test('not without a pause when the store says there is more and gives nothing', async () => {
    const nothing: ClaimResult = { claims: [], nextDueAt: undefined, more: true }
    const { clock, startAt, run, looks } = setStage({
      wrap: (store) => ({ ...store, claimDueOutgoingMessages: async () => nothing }),
    })
    const { stop } = run()
    await clock.advanceBy(999)
    await stop()
    expect(perSecond(looks, startAt)).toEqual([20])
  })

  test('not once a send when a thousand sends a second are due at once', async () => {
    const { clock, run, looks, put, dispatcher, sent } = setStage()
    const { stop } = run()
    await clock.advanceBy(500)
    const before = looks.length
    for (let sends = 0; sends < 1_000; sends++) {
      await put([`m${sends}`, 501 + sends])
      dispatcher.expect(clock.now() + 1)
      await clock.advanceBy(1)
    }
    await clock.advanceBy(500)
    await stop()
    expect(looks.length - before).toBeLessThanOrEqual(1_000 / 50 + 3)
    expect(sent).toHaveLength(1_000)
  })
})

describe('what a dispatcher holds', () => {
  test('is never more than it may, in number and in bytes, and all of it goes out', async () => {
    const maxInHand = 30
    const maxInHandBytes = 50_000
    let held = 0
    let heldBytes = 0
    const most = { claims: 0, bytes: 0, requests: 0 }
    let requests = 0
    const { clock, run, put, sent } = setStage({
      dispatch: { maxInHand, maxInHandBytes, maxPublishing: 3 },
      wrap: (store) => ({
        ...store,
        claimDueOutgoingMessages: async (request) => {
          const found = await store.claimDueOutgoingMessages(request)
          held += found.claims.length
          heldBytes += found.claims.reduce((sum, { bytes }) => sum + bytes, 0)
          most.claims = Math.max(most.claims, held)
          most.bytes = Math.max(most.bytes, heldBytes)
          return found
        },
        deleteOutgoingMessages: async (claims) => {
          held -= claims.length
          heldBytes -= claims.reduce((sum, { bytes }) => sum + bytes, 0)
          return store.deleteOutgoingMessages(claims)
        },
      }),
      answer: async (batch, nth) => {
        requests++
        most.requests = Math.max(most.requests, requests)
        await Promise.resolve()
        requests--
        return publishAll(batch, nth)
      },
    })
    const row = (id: string, index: number) => {
      const envelope = envelopeOf(id, `"${'x'.repeat((index % 7) * 3_000)}"`)
      return [id, 0, { envelope }] as const
    }
    await put(...idsUpTo(300).map(row))
    const { stop } = run()
    await clock.advanceBy(10_000)
    await stop()
    expect(sent).toHaveLength(300)
    expect(most.claims).toBeLessThanOrEqual(maxInHand)
    expect(most.bytes).toBeLessThanOrEqual(maxInHandBytes)
    expect(most.requests).toBeLessThanOrEqual(3)
  })

  test('may be one message that is larger than all it may hold', async () => {
    const { clock, run, put, sent } = setStage({ dispatch: { maxInHandBytes: 1_000 } })
    await put(...idsUpTo(3).map((id) => [id, 0, { envelope: envelopeOf(id, `"${'x'.repeat(5_000)}"`) }] as const))
    const { stop } = run()
    await clock.advanceBy(5_000)
    await stop()
    expect(sent.map(({ id }) => id).sort()).toEqual(['m0', 'm1', 'm2'])
  })
})
