import { describe, expect, it } from 'vitest'
import { sleepUntil } from '../../lib/core/clock.js'
import { createDispatcherHandler } from '../../lib/lambda/dispatcher-handler.js'
import { setUpDispatching } from './dispatching.js'

describe('the dispatcher in a Lambda', () => {
  it('publishes each message at its millisecond, leaves when nothing is near, and leaves no timer behind', async () => {
    const { parts, clock, published, store, invoke } = setUpDispatching()
    await store('overdue', -3_600_000)
    await store('soon', 1_234)
    await store('later', 100_007)
    await store('far', 1_000_000)
    const handle = createDispatcherHandler(parts)
    expect(await clock.runUntil(handle({}, invoke('one')))).toEqual({ outcome: 'idle' })
    expect(published.map(({ messageId }) => messageId)).toEqual(['overdue', 'soon', 'later'])
    for (const { dueAt, at } of published.slice(1)) expect(at).toBe(dueAt)
    expect(clock.pendingTimers()).toBe(0)
  })

  it('leaves at once, without a write and without a metric, while another is at work', async () => {
    const { parts, clock, store, invoke, lines } = setUpDispatching()
    await store('soon', 60_000)
    const first = createDispatcherHandler(parts)({}, invoke('first'))
    await clock.advanceBy(5_000)
    const before = await parts.persistence.coordination.readWorker()
    const second = createDispatcherHandler(parts)
    expect(await second({}, invoke('second'))).toEqual({ outcome: 'declined' })
    expect(await parts.persistence.coordination.readWorker()).toEqual(before)
    expect(lines).toEqual([])
    await clock.runUntil(first)
  })

  it('has stopped 30 s before its time-out, with nothing claimed and no timer pending', async () => {
    const { parts, clock, published, store, invoke } = setUpDispatching()
    const startedAt = clock.now()
    for (let second = 1; second <= 400; second++) await store(`row-${second}`, second * 1_000)
    const handle = createDispatcherHandler(parts)
    expect(await clock.runUntil(handle({}, invoke('one')))).toEqual({ outcome: 'out-of-time' })
    expect(clock.now() - startedAt).toBe(270_000)
    expect(published).toHaveLength(270)
    expect(clock.pendingTimers()).toBe(0)
    const { claims } = await parts.persistence.claimDueOutgoingMessages({
      now: clock.now(),
      dueBefore: clock.now() + 1e9,
      limit: 1_000,
      leaseMs: 30_000,
    })
    expect(claims).toHaveLength(130)
  })

  it('hands over to the next tick before it stops, so that a tick a minute misses no second of an hour', async () => {
    const { parts, clock, published, store, invoke } = setUpDispatching()
    for (let second = 5; second <= 3_600; second++) await store(`row-${second}`, second * 1_000)
    const outcomes: string[] = []
    const startedAt = clock.now()
    const ticks = async () => {
      const running: Promise<unknown>[] = []
      for (let minute = 0; minute <= 60; minute++) {
        // The scheduler is precise to a minute: ticks come between 1 and 119 s apart.
        const tickAt = startedAt + minute * 60_000 + (minute % 2 === 0 ? 0 : 55_000)
        await sleepUntil(clock, tickAt)
        const turn = createDispatcherHandler(parts)({}, invoke(`tick-${minute}`))
        running.push(turn.then(({ outcome }) => outcomes.push(outcome)))
      }
      await Promise.all(running)
    }
    await clock.runUntil(ticks())
    expect(published).toHaveLength(3_596)
    expect(Math.max(...published.map(({ at, dueAt }) => at - dueAt))).toBeLessThanOrEqual(50)
    expect(outcomes).toContain('relieved')
    expect(outcomes).not.toContain('out-of-time')
  })

  it('drains and leaves in the mode of minutes', async () => {
    const { parts, clock, published, store, invoke } = setUpDispatching('minute')
    await store('overdue', -1)
    await store('soon', 5_000)
    const startedAt = clock.now()
    expect(await clock.runUntil(createDispatcherHandler(parts)({}, invoke('one')))).toEqual({ outcome: 'idle' })
    expect(published.map(({ messageId }) => messageId)).toEqual(['overdue'])
    expect(clock.now() - startedAt).toBeLessThan(1_000)
  })

  it('fails when the worker lease cannot be read, and counts that', async () => {
    const { parts, clock, metric, invoke } = setUpDispatching()
    const coordination = {
      ...parts.persistence.coordination,
      readWorker: () => Promise.reject(new Error('the table is gone')),
    }
    const handle = createDispatcherHandler({ ...parts, persistence: { ...parts.persistence, coordination } })
    await expect(handle({}, invoke('one'))).rejects.toThrow('the table is gone')
    expect(metric('Errors')).toEqual([1])
    expect(metric('DispatcherAlive')).toEqual([])
    expect(clock.pendingTimers()).toBe(0)
  })
})

describe('the metrics of the dispatcher', () => {
  it('are lines in the embedded metric format, one for a short turn', async () => {
    const { parts, clock, store, invoke, lines } = setUpDispatching()
    await store('overdue', -500)
    await clock.runUntil(createDispatcherHandler(parts)({}, invoke('one')))
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        _aws: {
          Timestamp: clock.now(),
          CloudWatchMetrics: [
            {
              Namespace: 'Postdate',
              Dimensions: [['Bus', 'Table']],
              Metrics: [
                { Name: 'Dispatched', Unit: 'Count' },
                { Name: 'LatenessMs', Unit: 'Milliseconds' },
                { Name: 'DispatcherAlive', Unit: 'Count' },
                { Name: 'Backlog', Unit: 'Count' },
                { Name: 'BacklogAgeMs', Unit: 'Milliseconds' },
                { Name: 'Dead', Unit: 'Count' },
              ],
            },
          ],
        },
        Bus: 'orders',
        Table: 'orders-table',
        Dispatched: 1,
        LatenessMs: [500],
        DispatcherAlive: 1,
        Backlog: 0,
        BacklogAgeMs: 0,
        Dead: 0,
      },
    ])
  })

  it('come every minute of a long turn', async () => {
    const { parts, clock, store, invoke, metric } = setUpDispatching()
    for (let second = 1; second <= 200; second++) await store(`row-${second}`, second * 1_000)
    await clock.runUntil(createDispatcherHandler(parts)({}, invoke('one')))
    expect(metric('DispatcherAlive')).toEqual([1, 1, 1, 1])
    expect(metric('LatenessMs')).toHaveLength(200)
    expect(metric('Dispatched').reduce((sum, count) => sum + count)).toBe(200)
  })

  it('have at most 100 values in a line', async () => {
    const { parts, clock, store, invoke, lines, metric } = setUpDispatching()
    for (let row = 0; row < 250; row++) await store(`row-${row}`, -1)
    await clock.runUntil(createDispatcherHandler(parts)({}, invoke('one')))
    const counts = lines.map((line) => (JSON.parse(line) as { LatenessMs: number[] }).LatenessMs.length)
    expect(counts).toEqual([100, 100, 50])
    expect(metric('Dispatched')).toEqual([100, 100, 50])
  })

  it('tell the age of the backlog while the topic takes nothing, and that something is wrong', async () => {
    const { parts, clock, topic, store, invoke, metric } = setUpDispatching()
    topic.isDown = true
    await store('stuck', 0)
    await clock.runUntil(createDispatcherHandler(parts)({}, invoke('one')))
    const ages = metric('BacklogAgeMs')
    expect(ages.length).toBeGreaterThanOrEqual(4)
    for (const [index, age] of ages.entries()) expect(age).toBeGreaterThanOrEqual(Math.min(index + 1, 4) * 60_000)
    expect(metric('Errors').length).toBeGreaterThanOrEqual(4)
    expect(metric('Backlog').every((rows) => rows === 1)).toBe(true)
  })

  it('do not call a dispatcher alive whose looks fail', async () => {
    const { parts, clock, invoke, metric } = setUpDispatching()
    const claimDueOutgoingMessages = () => Promise.reject(new Error('AccessDenied'))
    const handle = createDispatcherHandler({
      ...parts,
      persistence: { ...parts.persistence, claimDueOutgoingMessages },
    })
    await clock.runUntil(handle({}, invoke('one')))
    expect(metric('DispatcherAlive')).toEqual([])
    expect(metric('Errors').length).toBeGreaterThan(0)
  })
})
