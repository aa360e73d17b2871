import { describe, expect, test } from 'vitest'
import { handlerFor } from '../../../lib/core/receiver.js'
import { ack, reject, requeue } from '../../../lib/core/redelivery/handler-result.js'
import type { IncomingMiddleware } from '../../../lib/core/redelivery/incoming-middleware.js'
import { CardCharged, ChargeCard, setStage } from './stage.js'

const setMiddleware = async (incoming: readonly IncomingMiddleware[], handle: () => unknown = () => {}) => {
  const steps: string[] = []
  const stage = await setStage([
    {
      handlers: [
        handlerFor(ChargeCard, () => {
          steps.push('handler')
          return handle()
        }),
      ],
      incoming,
      redelivery: { delays: [1_000] },
    },
  ])
  await stage.bus.send(ChargeCard({ orderId: '1' }), { messageId: 'm1' })
  await stage.clock.advanceBy(10_000)
  await stage.clock.runUntil(stage.bus.stop())
  return { ...stage, steps }
}

describe('incoming middleware', () => {
  test('runs around the handler for each message, the first one outermost', async () => {
    const steps: string[] = []
    const step =
      (name: string): IncomingMiddleware =>
      async ({ message, context, receiver }, next) => {
        steps.push(`${name} before ${message.$name} ${context.messageId} ${receiver}`)
        await next()
        steps.push(`${name} after`)
      }
    const { of } = await setMiddleware([step('one'), step('two')], () => void steps.push('handler'))
    const about = 'before shop/charge-card m1 billing'
    expect(steps).toEqual([`one ${about}`, `two ${about}`, 'handler', 'two after', 'one after'])
    expect(of('handled')).toHaveLength(1)
  })

  test('leaves the result of the handler as it is when it returns nothing, or anything else', async () => {
    const seen: string[] = []
    const watch: IncomingMiddleware = async (_, next) => {
      seen.push((await next()).result)
      return 'anything'
    }
    const { dead } = await setMiddleware([watch], () => reject('no'))
    expect(seen).toEqual(['reject'])
    expect(dead()).toHaveLength(1)
  })

  test('decides when it returns a result, with or without the handler', async () => {
    const shortcut = await setMiddleware([() => reject('the tenant is gone')])
    expect(shortcut.steps).toEqual([])
    expect(shortcut.dead()).toMatchObject([{ why: { reason: 'rejected: the tenant is gone' } }])
    const skip = await setMiddleware([() => ack()])
    expect([skip.steps, skip.of('handled').length]).toEqual([[], 1])
    const later: IncomingMiddleware = async ({ context }, next) => {
      const result = await next()
      return context.attempt < 3 ? requeue({ after: 1 }) : result
    }
    const override = await setMiddleware([later])
    expect(override.steps).toEqual(['handler', 'handler', 'handler'])
  })

  test('may catch what the handler throws, and say what becomes of it', async () => {
    const forgive: IncomingMiddleware = async (_, next) => {
      try {
        return await next()
      } catch {
        return ack()
      }
    }
    const { of, dead } = await setMiddleware([forgive], () => {
      throw new Error('no')
    })
    expect([of('handled').length, of('handling-failed').length, dead().length]).toEqual([1, 0, 0])
  })

  test('that throws has failed the message, as the handler would', async () => {
    const { of, dead, steps } = await setMiddleware([
      () => {
        throw new Error('no tenant')
      },
    ])
    expect(steps).toEqual([])
    expect(of('handling-failed').map(({ reason }) => reason)).toEqual(['no tenant', 'no tenant'])
    expect(dead()).toHaveLength(1)
  })

  test.each<[string, IncomingMiddleware, string]>([
    ['does not call next()', function idle() {}, 'idle of the receiver billing left it open'],
    ['does not await next()', (_, next) => void next(), 'an incoming middleware'],
    [
      'calls next() twice',
      async function twice(_, next) {
        await next()
        await next()
      },
      'it called next() twice',
    ],
    [
      'swallows what was thrown',
      async (_, next) => {
        await next().catch(() => {})
      },
      'it neither awaited next() nor returned a result',
    ],
  ])('that %s has failed the message: it is never lost in silence', async (name, middleware, reason) => {
    const { of } = await setMiddleware([middleware], async () => {
      if (name.startsWith('swallows')) throw new Error('no')
      await new Promise((resolve) => setImmediate(resolve))
    })
    expect(of('handled')).toEqual([])
    expect(of('handling-failed')[0]?.reason).toContain(reason)
    expect(of('handling-failed')[0]?.reason).toContain('(receiver.middleware-without-result)')
  })

  test('may send, and its sends go out with those of the handler', async () => {
    const audit: IncomingMiddleware = async ({ context }, next) => {
      await next()
      await context.publish(CardCharged({ orderId: '1' }))
    }
    const { of } = await setMiddleware([audit])
    expect(of('sent').map(({ name }) => name)).toEqual(['shop/charge-card', 'shop/card-charged'])
  })
})
