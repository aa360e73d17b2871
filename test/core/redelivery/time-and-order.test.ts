import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sleepUntil } from '../../../lib/core/clock.js'
import { handlerFor } from '../../../lib/core/receiver.js'
import { reject, requeue } from '../../../lib/core/redelivery/handler-result.js'
import { memoryInbox } from '../../../lib/memory/inbox.js'
import { createVirtualClock } from '../../../lib/testing/virtual-clock.js'
import { recordOf, setBatches } from './batch-stage.js'
import { CardCharged, ChargeCard } from './stage.js'

const recordFor = (orderId: string, groupId?: string) => ({
  ...recordOf('shop/charge-card', ChargeCard({ orderId }), { messageId: `m${orderId}` }, `r${orderId}`),
  ...(groupId !== undefined && { groupId }),
})
const recordsUpTo = (count: number) => Array.from({ length: count }, (_, index) => recordFor(String(index + 1)))

describe('the time of a batch', () => {
  test('is watched: what can not start in it is given back, and no timer is left', async () => {
    const clock = createVirtualClock()
    const started: string[] = []
    const handler = handlerFor(ChargeCard, async ({ orderId }) => {
      started.push(orderId)
      await sleepUntil(clock, clock.now() + 9_000)
    })
    const { handle, events } = setBatches([handler], { clock })
    const answer = await clock.runUntil(handle(recordsUpTo(10), { concurrency: 2, timeLeftMs: 30_000 }))
    // Rounds start at 0, 9 and 18 s; at 27 s the last tenth has begun.
    expect(started).toEqual(['1', '2', '3', '4', '5', '6'])
    expect(answer).toEqual(['r7', 'r8', 'r9', 'r10'])
    expect(events.filter(({ type }) => type === 'handled').length + answer.length).toBe(10)
    expect(clock.pendingTimers()).toBe(0)
  })

  test('that is over gives back what still runs: the others are acknowledged, and its sends are dropped', async () => {
    const clock = createVirtualClock()
    const ended: string[] = []
    const hanging = handlerFor(ChargeCard, async ({ orderId }, ctx) => {
      await ctx.publish(CardCharged({ orderId }))
      if (orderId !== '3') return
      await sleepUntil(clock, clock.now() + 60_000)
      ended.push(await ctx.publish(CardCharged({ orderId })).then(String, ({ code }) => code))
    })
    const { handle, events, sent, rows } = setBatches([hanging], { clock })
    const startAt = clock.now()
    expect(await clock.runUntil(handle(recordsUpTo(10), { timeLeftMs: 30_000 }))).toEqual(['r3'])
    expect(clock.now()).toBeLessThan(startAt + 30_000)
    expect(events.at(-1)).toEqual({
      type: 'given-back',
      recordId: 'r3',
      receiver: 'billing',
      reason: 'its handler was still running at the end',
    })
    const before = sent.length
    await clock.advanceBy(120_000)
    expect(ended).toEqual(['context.closed'])
    expect([sent.length - before, before]).toEqual([0, 9])
    expect(await rows()).toEqual([])
    expect(events.filter(({ type }) => type === 'handling-failed')).toEqual([])
  })

  test('that is over leaves the inbox as it was for what still runs: it is not taken for handled', async () => {
    const clock = createVirtualClock()
    let runs = 0
    const inbox = memoryInbox({ clock })
    const hanging = handlerFor(ChargeCard, async (_, ctx) => {
      runs++
      await ctx.publish(CardCharged({ orderId: '1' }))
      await sleepUntil(clock, clock.now() + 60_000)
    })
    const { handle, events, sent } = setBatches([hanging], { clock, inbox })
    expect(await clock.runUntil(handle([recordFor('1')], { timeLeftMs: 30_000 }))).toEqual(['r1'])
    expect(await clock.runUntil(handle([recordFor('1')]))).toEqual(['r1'])
    expect(events.at(-1)).toMatchObject({ type: 'given-back', reason: 'it is being handled elsewhere' })
    await clock.advanceBy(120_000)
    expect([runs, sent.length]).toEqual([1, 0])
    expect(await clock.runUntil(handle([recordFor('1')]))).toEqual([])
    expect([runs, sent.length]).toEqual([2, 1])
    expect(events.flatMap(({ type }) => (type.startsWith('handled') ? [type] : []))).toEqual(['handled'])
  })

  test('that is over gives back what a hanging handler kept from starting, and says so', async () => {
    const clock = createVirtualClock()
    const handler = handlerFor(ChargeCard, () => sleepUntil(clock, clock.now() + 60_000))
    const { handle, events } = setBatches([handler], { clock })
    expect(await clock.runUntil(handle(recordsUpTo(2), { concurrency: 1, timeLeftMs: 30_000 }))).toEqual(['r1', 'r2'])
    expect(events.flatMap((event) => (event.type === 'given-back' ? [event.reason] : []))).toEqual([
      'its handler was still running at the end',
      'there was no time left to start it',
    ])
  })

  test('is answered for though an observer of the batch throws', async () => {
    const { handle, log } = setBatches([handlerFor(ChargeCard, () => {})])
    const onEvent = () => {
      throw new Error('oops')
    }
    expect(await handle(recordsUpTo(2), { onEvent })).toEqual([])
    expect(log.lines.filter(({ message }) => message.startsWith('an observer threw'))).toHaveLength(2)
  })

  test('that is too short for anything gives all of it back', async () => {
    const { handle } = setBatches([handlerFor(ChargeCard, () => {})])
    expect(await handle(recordsUpTo(3), { timeLeftMs: 10 })).toEqual(['r1', 'r2', 'r3'])
  })

  test.each([3_000, 30_000, 900_000])('of %i ms leaves most of it to the handlers', async (timeLeftMs) => {
    const clock = createVirtualClock()
    const handler = handlerFor(ChargeCard, () => sleepUntil(clock, clock.now() + timeLeftMs * 0.8))
    const { handle } = setBatches([handler], { clock })
    expect(await clock.runUntil(handle(recordsUpTo(3), { timeLeftMs }))).toEqual([])
  })
})

describe('on a queue that keeps an order', () => {
  test('records of a group run one after another, those of different groups side by side', async () => {
    const clock = createVirtualClock()
    const startAt = clock.now()
    const steps: string[] = []
    const handler = handlerFor(ChargeCard, async ({ orderId }) => {
      steps.push(`${orderId} begins`)
      await sleepUntil(clock, clock.now() + 1_000)
      steps.push(`${orderId} ends`)
    })
    const { handle } = setBatches([handler], { clock })
    const records = [recordFor('a1', 'a'), recordFor('b1', 'b'), recordFor('a2', 'a'), recordFor('b2', 'b')]
    expect(await clock.runUntil(handle(records))).toEqual([])
    expect(steps.slice(0, 2)).toEqual(['a1 begins', 'b1 begins'])
    const stepsOf = (group: string) => steps.filter((step) => step.startsWith(group))
    expect(stepsOf('a')).toEqual(['a1 begins', 'a1 ends', 'a2 begins', 'a2 ends'])
    expect(stepsOf('b')).toEqual(['b1 begins', 'b1 ends', 'b2 begins', 'b2 ends'])
    expect(clock.now()).toBe(startAt + 2_000)
  })

  test('a failure gives back the rest of its group, and nothing waits in the store', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ group: fc.constantFrom('a', 'b', 'c'), fails: fc.boolean() }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        async (plan, concurrency) => {
          const ran: string[] = []
          const handler = handlerFor(ChargeCard, ({ orderId }) => {
            ran.push(orderId)
            if (plan[Number(orderId)]?.fails) throw new Error('no')
          })
          const { handle, rows } = setBatches([handler])
          const answer = await handle(
            plan.map(({ group }, index) => recordFor(String(index), group)),
            { concurrency },
          )
          const isBehindFailure = (index: number) =>
            plan.some(({ group, fails }, other) => fails && other < index && group === plan[index]?.group)
          const expected = plan.flatMap(({ fails }, index) => (fails || isBehindFailure(index) ? [`r${index}`] : []))
          expect(answer).toEqual(expected)
          expect(ran.map(Number).sort((one, other) => one - other)).toEqual(
            plan.flatMap((_, index) => (isBehindFailure(index) ? [] : [index])),
          )
          expect(await rows()).toEqual([])
        },
      ),
    )
  })

  test('a requeue gives back the rest of its group too, and a rejection does not', async () => {
    const results = { 1: requeue({ after: 1_000 }), 2: reject('no'), 3: undefined }
    const handler = handlerFor(ChargeCard, ({ orderId }) => results[orderId as unknown as keyof typeof results])
    const { handle, rows, events } = setBatches([handler])
    expect(await handle([recordFor('1', 'a'), recordFor('3', 'a')])).toEqual(['r1', 'r3'])
    expect(await handle([recordFor('2', 'a'), recordFor('3', 'a')])).toEqual([])
    expect(await rows()).toEqual([])
    expect(events.map(({ type }) => type)).toEqual([
      'handling-failed',
      'given-back',
      'given-back',
      'dead-lettered',
      'handled',
    ])
  })
})
