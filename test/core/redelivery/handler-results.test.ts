import { describe, expect, test } from 'vitest'
import { handlerFor } from '../../../lib/core/receiver.js'
import { ack, isHandlerResult, reject, requeue } from '../../../lib/core/redelivery/handler-result.js'
import { CardCharged, ChargeCard, setStage } from './stage.js'

const HOUR_MS = 3_600_000

describe('a handler that says', () => {
  const setResults = async (handle: (attempt: number) => unknown, waitMs = 600_000) => {
    const attempts: number[] = []
    const stage = await setStage([
      {
        handlers: [
          handlerFor(ChargeCard, async (_, ctx) => {
            attempts.push(ctx.attempt)
            await ctx.publish(CardCharged({ orderId: `${ctx.attempt}` }))
            return handle(ctx.attempt)
          }),
        ],
        redelivery: { delays: [1_000] },
      },
    ])
    await stage.bus.send(ChargeCard({ orderId: '1' }))
    await stage.clock.advanceBy(waitMs)
    await stage.clock.runUntil(stage.bus.stop())
    return { ...stage, attempts }
  }

  test.each<[string, () => unknown]>([
    ['ack()', () => ack()],
    ['nothing', () => undefined],
    ['anything else', () => ({ result: 'reject', reason: 'looks like one and is none' })],
  ])('%s has handled its message', async (_, handle) => {
    const { attempts, of, dead } = await setResults(handle)
    expect(attempts).toEqual([1])
    expect(of('handled')).toHaveLength(1)
    expect(dead()).toEqual([])
  })

  test('reject(reason) has its message among the dead letters at once, and its sends go out', async () => {
    const { attempts, of, dead } = await setResults(() => reject('the order was cancelled'))
    expect(attempts).toEqual([1])
    expect(dead()).toMatchObject([{ why: { reason: 'rejected: the order was cancelled', attempt: 1 } }])
    expect(of('dead-lettered')).toHaveLength(1)
    expect(of('handled')).toEqual([])
    expect(of('sent').map(({ name }) => name)).toEqual(['shop/charge-card', 'shop/card-charged'])
  })

  test('requeue() gets it again then, as often as it says so, without a failure', async () => {
    const { attempts, of, dead } = await setResults((attempt) => attempt < 20 && requeue({ after: 1_000 }))
    expect(attempts).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
    expect(of('handling-failed')).toEqual([])
    expect(of('redelivery-stored').every(({ why }) => why === 'requeued')).toBe(true)
    expect(dead()).toEqual([])
    expect(of('sent').filter(({ name }) => name === 'shop/card-charged')).toHaveLength(20)
  })

  test('requeue() in between keeps the count of failures', async () => {
    const { attempts, dead } = await setResults((attempt) => {
      if (attempt === 1 || attempt === 4) throw new Error(`failure ${attempt}`)
      return requeue({ after: 1_000 })
    })
    expect(attempts).toEqual([1, 2, 3, 4])
    expect(dead()).toMatchObject([{ why: { failure: { count: 2, first: { attempt: 1 }, last: { attempt: 4 } } } }])
  })

  test('requeue({ after }) of 54,524 s waits 15 h 8 min 44 s, to the millisecond', async () => {
    const { of, startAt, attempts } = await setResults(
      (attempt) => attempt === 1 && requeue({ after: { seconds: 54_524 } }),
      24 * HOUR_MS,
    )
    const waitMs = (15 * 60 * 60 + 8 * 60 + 44) * 1_000
    expect(of('redelivery-stored').map(({ dueAt }) => dueAt - startAt)).toEqual([waitMs])
    expect(attempts).toEqual([1, 2])
  })

  test('requeue() beyond the horizon has failed', async () => {
    const { of, attempts } = await setResults(() => requeue({ after: { days: 4_000 } }))
    expect(attempts).toEqual([1, 2])
    expect(of('handling-failed')[0]?.reason).toContain('schedule.beyond-horizon')
    expect(of('sent').map(({ name }) => name)).toEqual(['shop/charge-card'])
  })
})

describe('a result', () => {
  test.each<[string, () => unknown, string]>([
    ['a rejection without a reason', () => reject(''), 'options.invalid'],
    ['a rejection with an error', () => reject(new Error('no') as unknown as string), 'options.invalid'],
    ['a requeue after text', () => requeue({ after: '5s' as unknown as number }), 'schedule.invalid-duration'],
    ['a requeue after a negative time', () => requeue({ after: -1 }), 'schedule.invalid-duration'],
    ['a requeue after nothing', () => requeue({} as { after: number }), 'schedule.invalid-duration'],
  ])('that can mean nothing is refused: %s', (_, make, code) => {
    expect(make).toThrowError(expect.objectContaining({ code }))
  })

  test('is known by its mark alone', () => {
    for (const result of [ack(), reject('no'), requeue({ after: { seconds: 1.0001 } })])
      expect(isHandlerResult(result)).toBe(true)
    for (const other of [undefined, null, 'ack', { result: 'ack' }, ack]) expect(isHandlerResult(other)).toBe(false)
    expect(requeue({ after: { seconds: 1.0001 } })).toMatchObject({ afterMs: 1_001 })
  })
})
