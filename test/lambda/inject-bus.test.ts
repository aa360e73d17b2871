import middy, { type MiddlewareObj } from '@middy/core'
import type { Context } from 'aws-lambda'
import { afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest'
import type { MessageContext } from '../../lib/core/context.js'
import { defineCommand } from '../../lib/core/message.js'
import { silentLogger } from '../../lib/core/observation.js'
import { injectBus } from '../../lib/lambda/inject-bus.js'
import { createBus } from '../../lib/memory/create-bus.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'
import { invocationContext as contextOfLambda, recordingTransport } from './lambda-shapes.js'

const RemindPayment = defineCommand('shop/remind-payment', 1)<{ orderId: string }>()

interface OrderEvent {
  readonly orderId: string
}

/** Middy's types ask the caller for what its middlewares add; Lambda does not know them, and gives none. */
const invocationContext = () => contextOfLambda() as Context & MessageContext

const setUp = (durable = true) => {
  const clock = createVirtualClock()
  const transport = recordingTransport()
  const persistence = { ...memoryPersistence(), durable }
  const bus = createBus({ name: 'orders', transport, persistence, clock, logger: silentLogger })
  const dueRows = async () => (await persistence.measureBacklog(clock.now() + 1e12)).due
  return { bus, clock, transport, dueRows }
}

afterEach(() => vi.unstubAllEnvs())

describe('a handler that injectBus wraps', () => {
  it('sends what it sent once it has resolved, and nothing before', async () => {
    const { bus, transport, dueRows } = setUp()
    const seenWhileRunning: number[] = []
    const handler = middy<OrderEvent>()
      .use(injectBus(bus))
      .handler(async (event, ctx) => {
        const receipt = await ctx.send(RemindPayment({ orderId: event.orderId }), { deliverAfter: { days: 3 } })
        await ctx.publish({ $name: 'shop/order-placed', $version: 1 })
        seenWhileRunning.push(transport.published.length, await dueRows())
        return receipt.status
      })
    expect(await handler({ orderId: '42' }, invocationContext())).toBe('buffered')
    expect(seenWhileRunning).toEqual([0, 0])
    expect(transport.published.map(({ envelope }) => envelope.name)).toEqual(['shop/order-placed'])
    expect(await dueRows()).toBe(1)
  })

  it('sends nothing when it throws', async () => {
    const { bus, transport, dueRows } = setUp()
    const handler = middy<OrderEvent>()
      .use(injectBus(bus))
      .handler(async (event, ctx) => {
        await ctx.send(RemindPayment({ orderId: event.orderId }), { deliverAfter: 1_000 })
        await ctx.send(RemindPayment({ orderId: event.orderId }))
        throw new Error('the database is down')
      })
    await expect(handler({ orderId: '42' }, invocationContext())).rejects.toThrow('the database is down')
    expect(transport.published).toEqual([])
    expect(await dueRows()).toBe(0)
  })

  it('sends nothing when a middleware behind it throws after the handler, since its flush is the last step', async () => {
    const { bus, transport } = setUp()
    const handler = middy<OrderEvent>()
      .use(injectBus(bus))
      .use({
        after: () => {
          throw new Error('the answer is no JSON')
        },
      })
      .handler(async (event, ctx) => {
        await ctx.send(RemindPayment({ orderId: event.orderId }))
      })
    await expect(handler({ orderId: '42' }, invocationContext())).rejects.toThrow('the answer is no JSON')
    expect(transport.published).toEqual([])
  })

  it('fails when the flush fails, so that the caller does not take it for done', async () => {
    const { bus, transport } = setUp()
    transport.publish = async (batch) =>
      batch.map(() => ({ outcome: 'failed', blames: 'message', published: 'no', reason: 'InvalidParameter' }))
    const handler = middy<OrderEvent>()
      .use(injectBus(bus))
      .handler(async (event, ctx) => {
        await ctx.send(RemindPayment({ orderId: event.orderId }))
      })
    await expect(handler({ orderId: '42' }, invocationContext())).rejects.toMatchObject({
      code: 'transport.refused',
    })
  })

  it('refuses a send that comes after it has ended', async () => {
    const { bus } = setUp()
    let late: MessageContext | undefined
    const handler = middy<OrderEvent>()
      .use(injectBus(bus))
      .handler(async (_, ctx) => {
        late = ctx
      })
    await handler({ orderId: '42' }, invocationContext())
    await expect(late?.send(RemindPayment({ orderId: '42' }))).rejects.toMatchObject({ code: 'context.closed' })
  })

  it('recalls what it has buffered, and that never goes out', async () => {
    const { bus, dueRows } = setUp()
    const handler = middy<OrderEvent>()
      .use(injectBus(bus))
      .handler(async (event, ctx) => {
        const sent = await ctx.send(RemindPayment({ orderId: event.orderId }), { deliverAfter: 60_000 })
        return (await ctx.recall(sent.recallHandle ?? '')).outcome
      })
    expect(await handler({ orderId: '42' }, invocationContext())).toBe('recalled')
    expect(await dueRows()).toBe(0)
  })

  it('keeps two invocations apart that share one context object', async () => {
    const { bus, transport } = setUp()
    const context = invocationContext()
    const handler = middy<OrderEvent & { fails: boolean }>()
      .use(injectBus(bus))
      .handler(async (event, ctx) => {
        await ctx.send(RemindPayment({ orderId: event.orderId }))
        if (event.fails) throw new Error('no')
      })
    await Promise.allSettled([
      handler({ orderId: 'lost', fails: true }, context),
      handler({ orderId: 'kept', fails: false }, { ...context }),
    ])
    expect(transport.published.map(({ envelope }) => JSON.parse(envelope.body).orderId)).toEqual(['kept'])
  })

  it('refuses a delayed send on a persistence that is not durable, inside Lambda only', async () => {
    const { bus, dueRows } = setUp(false)
    const handler = middy<OrderEvent>()
      .use(injectBus(bus))
      .handler(async (event, ctx) => {
        await ctx.send(RemindPayment({ orderId: event.orderId }), { deliverAfter: 1_000 })
      })
    await handler({ orderId: 'on my machine' }, invocationContext())
    expect(await dueRows()).toBe(1)
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'orders')
    await expect(handler({ orderId: 'in Lambda' }, invocationContext())).rejects.toMatchObject({
      code: 'persistence.not-durable',
    })
    expect(await dueRows()).toBe(1)
  })
})

it('a bus made inside Lambda refuses such a send everywhere', async () => {
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'orders')
  const { bus } = setUp(false)
  const sending = bus.send(RemindPayment({ orderId: '42' }), { deliverAfter: 1_000 })
  await expect(sending).rejects.toMatchObject({ code: 'persistence.not-durable' })
})

describe('the types of injectBus', () => {
  it('give the handler its event and a context with both', () => {
    const { bus } = setUp()
    middy<OrderEvent>()
      .use(injectBus(bus))
      .handler(async (event, ctx) => {
        expectTypeOf(event).toExtend<OrderEvent>()
        expectTypeOf(ctx).toExtend<Context & MessageContext>()
        expectTypeOf(ctx.awsRequestId).toBeString()
        // @ts-expect-error: the context has no such method
        ctx.sendLater
      })
  })

  it('are those of a middleware of middy', () => {
    const { bus } = setUp()
    expectTypeOf(injectBus(bus)).toExtend<MiddlewareObj<unknown, unknown, Error, Context & MessageContext>>()
  })
})
