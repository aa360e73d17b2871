import { describe, expect, test } from 'vitest'
import { handlerFor } from '../../../lib/core/receiver.js'
import type { RedeliveryOptions } from '../../../lib/core/redelivery/redelivery-policy.js'
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

  test('keeps its key as data: nothing else gives way to it, and it gives way to nothing', async () => {
    const seen: (string | undefined)[] = []
    const stage = await setStage([
      {
        handlers: [
          handlerFor(ChargeCard, ({ orderId }, ctx) => {
            seen.push(`${orderId} ${ctx.attempt} ${ctx.key}`)
            if (orderId === 'old' && ctx.attempt === 1) throw new Error('not now')
          }),
        ],
      },
    ])
    await stage.bus.send(ChargeCard({ orderId: 'old' }), { deliverAfter: 1_000, key: 'invoice-17' })
    await stage.clock.advanceBy(2_000)
    // The failed one waits for its second attempt; the key is free.
    const next = { key: 'invoice-17', ifScheduled: 'reject' } as const
    const receipt = await stage.bus.send(ChargeCard({ orderId: 'new' }), { deliverAfter: 30_000, ...next })
    expect(receipt.status).toBe('scheduled')
    await stage.clock.advanceBy(60_000)
    expect(seen).toEqual(['old 1 invoice-17', 'old 2 invoice-17', 'new 1 invoice-17'])
    await stage.clock.runUntil(stage.bus.stop())
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
