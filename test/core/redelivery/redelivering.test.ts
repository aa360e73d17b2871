import { describe, expect, test } from 'vitest'
import { handlerFor } from '../../../lib/core/receiver.js'
import { ack, reject, requeue } from '../../../lib/core/redelivery/handler-result.js'
import type { RedeliveryOptions } from '../../../lib/core/redelivery/redelivery-policy.js'
import { memoryPersistence } from '../../../lib/memory/persistence.js'
import { CardCharged, ChargeCard, setStage } from './stage.js'

interface Run {
  readonly afterMs: number
  readonly attempt: number
}

const HOUR_MS = 3_600_000

/** A receiver whose handler fails so often, and when it ran. */
const setFailing = async (redelivery: RedeliveryOptions | undefined, failTimes = Number.POSITIVE_INFINITY) => {
  const runs: Run[] = []
  const stage = await setStage([
    {
      handlers: [
        handlerFor(ChargeCard, (_, ctx) => {
          runs.push({ afterMs: stage.clock.now() - stage.startAt, attempt: ctx.attempt })
          if (runs.length <= failTimes) throw new Error('the card was declined')
        }),
      ],
      ...(redelivery !== undefined && { redelivery }),
    },
  ])
  await stage.bus.send(ChargeCard({ orderId: '1' }))
  await stage.clock.advanceBy(600_000)
  await stage.clock.runUntil(stage.bus.stop())
  return { ...stage, runs }
}

describe('a handler that fails', () => {
  test('runs again 10,000 ms later without any configuration, as attempt 2, and stops after attempt 5 with one dead letter', async () => {
    const { runs, dead, of } = await setFailing(undefined)
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5])
    expect(runs[1]?.afterMs).toBe(10_000)
    expect(runs.map(({ afterMs }) => afterMs)).toEqual([0, 10_000, 30_000, 70_000, 150_000])
    expect(dead()).toMatchObject([
      {
        body: JSON.stringify(ChargeCard({ orderId: '1' })),
        why: {
          reason: 'failed 5 times, the last in attempt 5: Error: the card was declined',
          receiver: 'billing',
          attempt: 5,
        },
      },
    ])
    expect(of('dead-lettered')).toMatchObject([{ receiver: 'billing', attempt: 5 }])
    expect(of('redelivery-stored').map(({ attempt, why }) => [attempt, why])).toEqual([
      [2, 'failed'],
      [3, 'failed'],
      [4, 'failed'],
      [5, 'failed'],
    ])
  })

  test('waits as the list says, and stops after its end', async () => {
    const delays = [{ seconds: 1 }, { seconds: 2 }, { seconds: 3 }]
    const { runs, dead } = await setFailing({ delays })
    expect(runs).toEqual([
      { afterMs: 0, attempt: 1 },
      { afterMs: 1_000, attempt: 2 },
      { afterMs: 3_000, attempt: 3 },
      { afterMs: 6_000, attempt: 4 },
    ])
    expect(dead()).toHaveLength(1)
  })

  test('and then succeeds is handled, and has no dead letter', async () => {
    const { runs, dead, of } = await setFailing({ delay: 2_000, backoff: 'fixed' }, 2)
    expect(runs.map(({ afterMs }) => afterMs)).toEqual([0, 2_000, 4_000])
    expect(dead()).toEqual([])
    expect(of('handled')).toHaveLength(1)
  })

  test('is not redelivered when there is one attempt: it is dead at once', async () => {
    const { runs, dead } = await setFailing({ maxAttempts: 1 })
    expect(runs).toHaveLength(1)
    expect(dead()).toMatchObject([{ why: { attempt: 1 } }])
  })

  test('leaves nothing in the store, and no timer, when it is all over', async () => {
    const { persistence, clock } = await setFailing(undefined)
    expect(await persistence.measureBacklog(clock.now() + 10 * HOUR_MS)).toMatchObject({ due: 0, dead: 0 })
    expect(clock.pendingTimers()).toBe(0)
  })

  test('is dead at once for an error that never is worth another attempt', async () => {
    const never = (error: unknown) => error instanceof Error && error.message.includes('declined')
    const { runs, dead } = await setFailing({ never })
    expect(runs).toHaveLength(1)
    expect(dead()).toMatchObject([{ why: { reason: 'never to be redelivered: Error: the card was declined' } }])
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('oops')
      },
    ],
    ['answers a promise', (async () => true) as unknown as () => boolean],
  ])('is redelivered when the judge of its error %s, and the log says so', async (_, never) => {
    const { runs, log } = await setFailing({ never, maxAttempts: 2 })
    expect(runs).toHaveLength(2)
    expect(log.lines.filter(({ message }) => message.startsWith('redelivery.never'))).toHaveLength(2)
  })

  test.each<[string, unknown, string]>([
    ['text', 'no', 'string: no'],
    ['nothing', undefined, 'undefined: undefined'],
    ['an object without a text', Object.create(null), 'object: something that has no text'],
    ['an error with a name', new TypeError('no'), 'TypeError: no'],
  ])('may throw %s', async (_, thrown, text) => {
    const stage = await setStage([
      {
        handlers: [
          handlerFor(ChargeCard, () => {
            throw thrown
          }),
        ],
        redelivery: { maxAttempts: 1 },
      },
    ])
    await stage.bus.send(ChargeCard({ orderId: '1' }))
    await stage.clock.advanceBy(1)
    expect(stage.dead()).toMatchObject([{ why: { reason: `failed 1 times, the last in attempt 1: ${text}` } }])
    await stage.clock.runUntil(stage.bus.stop())
  })
})

describe('a redelivered message', () => {
  test('keeps all that it brought along, and brings what went wrong', async () => {
    const seen: object[] = []
    const stage = await setStage(
      [
        {
          handlers: [
            handlerFor(ChargeCard, (message, ctx) => {
              const { messageId, correlationId, attributes, stickyAttributes, headers, sentAt, dueAt, failure } = ctx
              seen.push({
                message,
                messageId,
                correlationId,
                attributes,
                stickyAttributes,
                headers,
                sentAt,
                dueAt,
                failure,
              })
              throw new Error(`failure ${ctx.attempt}`)
            }),
          ],
          redelivery: { delays: [1_000, 1_000] },
        },
      ],
      {
        outgoing: [
          ({ headers }) => {
            headers.trace = 't1'
          },
        ],
      },
    )
    const sent = {
      correlationId: 'c1',
      attributes: { priority: 0 },
      stickyAttributes: { tenant: 'acme' },
      messageId: 'm1',
    }
    await stage.bus.send(ChargeCard({ orderId: '1', note: '\uffff' }), sent)
    await stage.clock.advanceBy(10_000)
    await stage.clock.runUntil(stage.bus.stop())
    const { startAt } = stage
    const kept = {
      ...sent,
      message: ChargeCard({ orderId: '1', note: '\uffff' }),
      headers: { trace: 't1' },
      sentAt: startAt,
    }
    const first = { at: startAt, attempt: 1, type: 'Error', message: 'failure 1' }
    expect(seen).toEqual([
      { ...kept, dueAt: undefined, failure: undefined },
      { ...kept, dueAt: startAt + 1_000, failure: { count: 1, first, last: { ...first, stack: expect.any(String) } } },
      {
        ...kept,
        dueAt: startAt + 2_000,
        failure: {
          count: 2,
          first,
          last: {
            at: startAt + 1_000,
            attempt: 2,
            type: 'Error',
            message: 'failure 2',
            stack: expect.stringContaining('failure 2'),
          },
        },
      },
    ])
    expect(stage.dead()).toMatchObject([{ why: { failure: { count: 3, first, last: { message: 'failure 3' } } } }])
  })

  test('goes to the receiver that failed alone', async () => {
    const runs: string[] = []
    const handler = (receiver: string, fails: boolean) =>
      handlerFor(CardCharged, (_, ctx) => {
        runs.push(`${receiver} ${ctx.attempt}`)
        if (fails && ctx.attempt === 1) throw new Error('not now')
      })
    const stage = await setStage([
      { name: 'mail', handlers: [handler('mail', true)] },
      { name: 'stock', handlers: [handler('stock', false)] },
      { name: 'books', handlers: [handler('books', true)] },
    ])
    await stage.bus.publish(CardCharged({ orderId: '1' }))
    await stage.clock.advanceBy(60_000)
    expect(runs.sort()).toEqual(['books 1', 'books 2', 'mail 1', 'mail 2', 'stock 1'])
    await stage.clock.runUntil(stage.bus.stop())
  })

  test('has no event "scheduled": nobody has sent it', async () => {
    const { of } = await setFailing(undefined)
    expect(of('scheduled')).toEqual([])
    expect(of('sent')).toHaveLength(1)
  })
})

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

describe('the queue alone retries', () => {
  const setQueueOnly = async (
    redelivery: RedeliveryOptions | undefined,
    persistence: ReturnType<typeof memoryPersistence>,
    handle: () => unknown,
  ) => {
    const runs: Run[] = []
    const stage = await setStage(
      [
        {
          handlers: [
            handlerFor(ChargeCard, (_, ctx) => {
              runs.push({ afterMs: stage.clock.now() - stage.startAt, attempt: ctx.attempt })
              return handle()
            }),
          ],
          ...(redelivery !== undefined && { redelivery }),
        },
      ],
      { persistence },
    )
    await stage.bus.send(ChargeCard({ orderId: '1' }))
    await stage.clock.advanceBy(600_000)
    await stage.clock.runUntil(stage.bus.stop())
    return { ...stage, runs }
  }
  const fail = () => {
    throw new Error('no')
  }
  const byVisibility = [0, 1, 2, 3, 4].map((times) => ({ afterMs: times * 1_000, attempt: 1 }))

  test('when redelivery is off: nothing is in the store, and the redrive policy gives up', async () => {
    const stored: string[] = []
    const persistence = { ...memoryPersistence(), durable: true }
    const { runs, dead, of } = await setQueueOnly(
      { enabled: false },
      {
        ...persistence,
        storeOutgoingMessages: async (messages) => {
          stored.push(...messages.map(({ rowId }) => rowId))
          return persistence.storeOutgoingMessages(messages)
        },
      },
      fail,
    )
    expect(runs).toEqual(byVisibility)
    expect(dead()).toMatchObject([{ why: undefined }])
    expect(stored).toEqual([])
    expect(of('given-back')).toHaveLength(5)
  })

  test('when the persistence is not durable', async () => {
    const { runs, dead } = await setQueueOnly(undefined, memoryPersistence(), fail)
    expect(runs).toEqual(byVisibility)
    expect(dead()).toHaveLength(1)
  })

  test('when the store can not take the copy: nothing is lost', async () => {
    const persistence = { ...memoryPersistence(), durable: true }
    const { runs, of } = await setQueueOnly(
      undefined,
      {
        ...persistence,
        storeOutgoingMessages: async () => {
          throw new Error('the store is down')
        },
      },
      fail,
    )
    expect(runs).toEqual(byVisibility)
    expect(of('given-back').map(({ reason }) => reason)).toEqual(
      Array(5).fill(expect.stringContaining('the store is down')),
    )
  })

  test('a requeue that can not be kept: it is no success, and its sends do not go out', async () => {
    const { runs, of, log } = await setQueueOnly(undefined, memoryPersistence(), () => requeue({ after: 1 }))
    expect(runs).toEqual(byVisibility)
    expect(of('given-back')[0]?.reason).toContain('receiver.requeue-not-possible')
    expect(log.lines.some(({ level }) => level === 'error')).toBe(true)
  })
})
