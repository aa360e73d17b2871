import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failAll, idsUpTo, publishAll, setStage } from './stage.js'

describe('a dispatcher that is stopped', () => {
  test('gives back what is not being published, waits for what is, and leaves no lease and no timer', async () => {
    let open = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const { clock, put, run, sent, requests, store, eventsOf } = setStage({
      dispatch: { maxPublishing: 2 },
      answer: async (batch, nth) => {
        await opened
        return publishAll(batch, nth)
      },
    })
    const rows = await put(...idsUpTo(50).map((id) => [id, 0] as const), ['soon', 900])
    const { abort, ended } = run()
    await clock.advanceBy(0)
    expect(requests).toHaveLength(2)
    abort()
    // 20 are on their way; the other 31 are free at once, with nothing to hide from a recall.
    await clock.advanceBy(10)
    expect(eventsOf('released')).toHaveLength(31)
    open()
    await ended
    expect(sent).toHaveLength(20)
    expect(clock.pendingTimers()).toBe(0)
    const gone = new Set(sent.map(({ id }) => id))
    for (const row of rows) {
      if (!gone.has(row.rowId)) expect(await store.recallOutgoingMessage(row, clock.now())).toBe('recalled')
    }
  })

  test('leaves no lease, whenever it is stopped', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 3_000 }),
        fc.array(fc.integer({ min: 0, max: 4_000 }), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 0, max: 700 }),
        async (stopAfterMs, dueInMs, publishMs) => {
          const { clock, put, run, sent, store, startAt } = setStage({
            answer: async (batch, nth) => {
              await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + publishMs, resolve))
              return publishAll(batch, nth)
            },
          })
          await put(...dueInMs.map((ms, index) => [`m${index}`, ms] as const))
          const { stop } = run()
          await clock.advanceBy(stopAfterMs)
          await stop()
          expect(clock.pendingTimers()).toBe(0)
          const dueBefore = startAt + 4_000
          // Now, not after a lease: whatever is left can be claimed by another at once.
          const left = await store.claimDueOutgoingMessages({ now: clock.now(), dueBefore, limit: 100, leaseMs: 1 })
          expect(left.claims.length + sent.length).toBe(dueInMs.length)
          expect(left.claims.every(({ claims }) => claims === 1)).toBe(true)
        },
      ),
      { numRuns: 60 },
    )
  })

  test('while it is looking publishes nothing of what it finds, and gives it back', async () => {
    const { clock, put, run, sent, rowsLeft, eventsOf } = setStage({
      wrap: (store, time) => ({
        ...store,
        claimDueOutgoingMessages: async (request) => {
          await new Promise<void>((resolve) => void time.wakeAt(time.now() + 100, resolve))
          return store.claimDueOutgoingMessages(request)
        },
      }),
    })
    await put(['a', 0])
    const { stop } = run()
    await clock.advanceBy(50)
    await stop()
    expect(sent).toEqual([])
    expect(eventsOf('released').map(({ rowId }) => rowId)).toEqual(['a'])
    expect(await rowsLeft()).toEqual([{ rowId: 'a', unended: 1 }])
  })

  test('before it began claims nothing', async () => {
    const { clock, put, dispatcher, looks } = setStage()
    await put(['a', 0])
    await clock.runUntil(dispatcher.run({ signal: AbortSignal.abort() }))
    expect(looks).toEqual([])
  })

  test('can run again', async () => {
    const { clock, put, run, sent } = setStage()
    await run().stop()
    await put(['a', 0])
    const { stop } = run()
    await clock.advanceBy(0)
    await stop()
    expect(sent.map(({ id }) => id)).toEqual(['a'])
  })
})

describe('a dispatcher that is told to leave when idle', () => {
  test('drains what is due and leaves at once, when it is to wait for nothing', async () => {
    const { clock, startAt, put, run, sent, looks } = setStage()
    await put(...idsUpTo(2_000).map((id) => [id, -5] as const), ['later', 60_000])
    const endedAt = await clock.runUntil(run({ leaveWhenIdleMs: 0 }).ended)
    expect(endedAt - startAt).toBe(0)
    expect(sent).toHaveLength(2_000)
    // The look that finds nothing, and the ones before it that were full.
    expect(looks.length).toBeLessThanOrEqual(2_000 / 250 + 3)
  })

  test('stays while anything is due within its time, publishes it, and leaves then', async () => {
    const { clock, startAt, put, run, sent } = setStage()
    await put(['a', 100_000], ['b', 220_000], ['far', 360_000])
    const endedAt = await clock.runUntil(run({ leaveWhenIdleMs: 130_000 }).ended)
    expect(sent.map(({ id, at }) => [id, at - startAt])).toEqual([
      ['a', 100_000],
      ['b', 220_000],
    ])
    expect(endedAt - startAt).toBeGreaterThanOrEqual(220_000)
    expect(endedAt - startAt).toBeLessThanOrEqual(222_000)
    expect(clock.pendingTimers()).toBe(0)
  })

  test('leaves at once when nothing is near', async () => {
    const { clock, startAt, put, run, looks } = setStage()
    await put(['far', 130_001])
    expect(await clock.runUntil(run({ leaveWhenIdleMs: 130_000 }).ended)).toBe(startAt)
    expect(looks).toHaveLength(1)
  })

  test('does not leave over a row that it gave back for a moment', async () => {
    const { clock, put, run, sent } = setStage({
      answer: (batch, nth) => (nth === 1 ? failAll('passing') : publishAll)(batch, nth),
    })
    await put(['a', 0])
    await clock.runUntil(run({ leaveWhenIdleMs: 2_500 }).ended)
    expect(sent.map(({ id }) => id)).toEqual(['a'])
  })

  test('does not leave over a row that it gave back while it was looking', async () => {
    const { clock, put, run, sent } = setStage({
      wrap: (store, time) => ({
        ...store,
        claimDueOutgoingMessages: async (request) => {
          const found = await store.claimDueOutgoingMessages(request)
          if (found.claims.length === 0)
            await new Promise<void>((resolve) => void time.wakeAt(time.now() + 100, resolve))
          return found
        },
      }),
      answer: async (batch, nth) => {
        if (nth > 1) return publishAll(batch, nth)
        await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + 1_050, resolve))
        return failAll('passing')(batch, nth)
      },
    })
    await put(['a', 0])
    await clock.runUntil(run({ leaveWhenIdleMs: 2_500 }).ended)
    expect(sent.map(({ id }) => id)).toEqual(['a'])
  })

  test('does not take a look that failed for an empty store', async () => {
    let calls = 0
    const { clock, put, run, sent } = setStage({
      wrap: (store) => ({
        ...store,
        claimDueOutgoingMessages: async (request) => {
          if (++calls === 1) throw new Error('throttled')
          return store.claimDueOutgoingMessages(request)
        },
      }),
    })
    await put(['a', 0])
    await clock.runUntil(run({ leaveWhenIdleMs: 0 }).ended)
    expect(sent.map(({ id }) => id)).toEqual(['a'])
  })

  test('goes on looking while its last messages are being settled', async () => {
    let open = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const { clock, startAt, put, run, sent } = setStage({
      wrap: (store) => ({
        ...store,
        deleteOutgoingMessages: async (claims) => {
          await opened
          return store.deleteOutgoingMessages(claims)
        },
      }),
    })
    await put(['a', 0])
    const { ended } = run({ leaveWhenIdleMs: 0 })
    await clock.advanceBy(2_500)
    await put(['b', 2_500])
    await clock.advanceBy(2_000)
    open()
    await clock.runUntil(ended)
    expect(sent.map(({ id, at }) => [id, at - startAt])).toEqual([
      ['a', 0],
      ['b', 3_000],
    ])
  })

  test('can be stopped before that, also while it waits for its hand to be empty', async () => {
    const { clock, startAt, put, run, rowsLeft } = setStage({
      wrap: (store) => ({
        ...store,
        deleteOutgoingMessages: async () => {
          throw new Error('throttled')
        },
      }),
    })
    await put(['a', 0], ['b', 900])
    const { stop } = run({ leaveWhenIdleMs: 0 })
    await clock.advanceBy(100)
    const endedAt = await stop()
    // What is settled is tried to the end of its lease; what is not yet due is given back.
    expect(endedAt - startAt).toBeLessThanOrEqual(30_000)
    expect(await rowsLeft()).toEqual([
      { rowId: 'a', unended: 1 },
      { rowId: 'b', unended: 1 },
    ])
  })
})

describe('dispatchers', () => {
  test('have one run at a time', async () => {
    const { clock, dispatcher, run } = setStage()
    const { stop } = run()
    await expect(dispatcher.run({ signal: new AbortController().signal })).rejects.toMatchObject({
      code: 'options.invalid',
    })
    await clock.advanceBy(10)
    await stop()
  })

  test.each([
    ['leaseMs', 11_000],
    ['leaseMs', Number.NaN],
    ['pollMs', 0],
    ['lookAheadMs', -1],
    ['publishTimeoutMs', 0],
    ['maxInHand', 0],
    ['maxInHandBytes', 0.5],
    ['maxPublishing', 0],
  ])('refuse %s of %d', (option, value) => {
    expect(() => setStage({ dispatch: { [option]: value } })).toThrow(
      expect.objectContaining({
        code: 'options.invalid',
        details: expect.objectContaining({ option: `dispatch.${option}` }),
      }),
    )
  })

  test('of which five share one store publish each row once, and each at its instant', async () => {
    const first = setStage({ shards: 4 })
    const { clock, startAt, store, put, rowsLeft } = first
    const others = Array.from({ length: 4 }, () => setStage({ share: { clock, store } }))
    const stages = [first, ...others]
    await put(...idsUpTo(2_000).map((id, index) => [id, (index % 50) * 100, { shard: index % 4 }] as const))
    const runs = stages.map(({ run }) => run())
    await clock.advanceBy(10_000)
    for (const { stop } of runs) await stop()
    const sent = stages.flatMap((stage) => stage.sent)
    expect(sent).toHaveLength(2_000)
    expect(new Set(sent.map(({ id }) => id)).size).toBe(2_000)
    expect(sent.every(({ at, dueAt }) => at === dueAt)).toBe(true)
    expect(sent.every(({ at }) => at >= startAt)).toBe(true)
    expect(await rowsLeft()).toEqual([])
    expect(clock.pendingTimers()).toBe(0)
  })
})
