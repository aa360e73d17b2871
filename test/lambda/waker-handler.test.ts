import { describe, expect, it } from 'vitest'
import { createDispatcherHandler } from '../../lib/lambda/dispatcher-handler.js'
import { createWakerHandler } from '../../lib/lambda/waker-handler.js'
import { setUpDispatching } from './dispatching.js'
import { sqsRecord } from './lambda-shapes.js'

const hintsFor = (...shards: unknown[]) => ({
  Records: shards.map((shard, index) => sqsRecord(`hint-${index + 1}`, JSON.stringify({ shard, dueAt: 1 }))),
})

describe('the waker in a Lambda', () => {
  it('dispatches what is due soon in the shard of a hint, at its millisecond, and leaves no timer behind', async () => {
    const { parts, clock, published, store, invoke, metric } = setUpDispatching('second', 2)
    await store('soon', 1_700, 1)
    await store('other shard', 1_700, 0)
    await store('later', 60_000, 1)
    const answer = await clock.runUntil(createWakerHandler(parts)(hintsFor(1), invoke('wake', 30_000)))
    expect(answer).toEqual({ batchItemFailures: [] })
    expect(published.map(({ messageId, at, dueAt }) => [messageId, at - dueAt])).toEqual([['soon', 0]])
    expect(clock.pendingTimers()).toBe(0)
    expect(metric('LatenessMs')).toEqual([0])
  })

  it('sweeps several shards at the same time', async () => {
    const { parts, clock, published, store, invoke } = setUpDispatching('second', 8)
    for (let shard = 0; shard < 8; shard++) await store(`of shard ${shard}`, 1_500, shard)
    await clock.runUntil(createWakerHandler(parts)(hintsFor(0, 1, 2, 3, 4, 5, 6, 7, 7, 7), invoke('wake', 30_000)))
    expect(published).toHaveLength(8)
    for (const { at, dueAt } of published) expect(at).toBe(dueAt)
  })

  it('leaves the work to a dispatcher that is awake', async () => {
    const { parts, clock, store, invoke, published } = setUpDispatching()
    await store('keeps it awake', 30_000)
    const dispatching = createDispatcherHandler(parts)({}, invoke('dispatcher'))
    await clock.advanceBy(3_000)
    const seen = published.length
    expect(await createWakerHandler(parts)(hintsFor(0), invoke('wake', 30_000))).toEqual({ batchItemFailures: [] })
    expect(published.length).toBe(seen)
    await clock.runUntil(dispatching)
  })

  it('is no sign that the dispatcher is alive', async () => {
    const { parts, clock, store, invoke, metric } = setUpDispatching()
    await store('soon', 500)
    await clock.runUntil(createWakerHandler(parts)(hintsFor(0), invoke('wake', 30_000)))
    expect(metric('Dispatched')).toEqual([1])
    expect(metric('DispatcherAlive')).toEqual([])
  })

  it('reports a record that is no hint, and answers the others', async () => {
    const { parts, clock, store, invoke, published } = setUpDispatching()
    await store('soon', 500)
    const event = hintsFor(-1, 'nought', 0)
    event.Records.push(sqsRecord('garbled', 'no JSON'))
    const answer = await clock.runUntil(createWakerHandler(parts)(event, invoke('wake', 30_000)))
    const failed = answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)
    expect(failed.sort()).toEqual(['garbled', 'hint-1', 'hint-2'])
    expect(published).toHaveLength(1)
  })

  it('reports the hints that it could not answer', async () => {
    const { parts, clock, invoke, metric } = setUpDispatching()
    const coordination = {
      ...parts.persistence.coordination,
      readWorker: () => Promise.reject(new Error('the table is gone')),
    }
    const handle = createWakerHandler({ ...parts, persistence: { ...parts.persistence, coordination } })
    const answer = await handle(hintsFor(0, 0), invoke('wake', 30_000))
    expect(answer.batchItemFailures).toHaveLength(2)
    expect(metric('Errors')).toEqual([1])
    expect(clock.pendingTimers()).toBe(0)
  })

  it('reports the hints of a shard in which no look has succeeded', async () => {
    const { parts, clock, invoke } = setUpDispatching()
    const claimDueOutgoingMessages = () => Promise.reject(new Error('throttled'))
    const handle = createWakerHandler({ ...parts, persistence: { ...parts.persistence, claimDueOutgoingMessages } })
    const answer = await clock.runUntil(handle(hintsFor(0, 0), invoke('wake', 30_000)))
    expect(answer.batchItemFailures).toHaveLength(2)
    expect(clock.pendingTimers()).toBe(0)
  })

  it('has stopped before its time-out, however much falls due', async () => {
    const { parts, clock, store, invoke, published } = setUpDispatching()
    for (let second = 1; second <= 60; second++) await store(`row-${second}`, second * 1_000)
    const startedAt = clock.now()
    await clock.runUntil(createWakerHandler(parts)(hintsFor(0), invoke('wake', 30_000)))
    expect(clock.now() - startedAt).toBeLessThan(25_000)
    expect(published.length).toBeGreaterThanOrEqual(20)
    for (const { at, dueAt } of published) expect(at).toBe(dueAt)
    expect(clock.pendingTimers()).toBe(0)
  })
})
