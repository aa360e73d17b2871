import middy from '@middy/core'
import type { Context, SQSBatchResponse, SQSEvent, SQSHandler } from 'aws-lambda'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { defineCommand } from '../../lib/core/message.js'
import { silentLogger } from '../../lib/core/observation.js'
import { type Handler, handlerFor } from '../../lib/core/receiver.js'
import { createReceiver } from '../../lib/lambda/create-receiver.js'
import { createBus } from '../../lib/memory/create-bus.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'
import { envelopeOf, invocationContext, recordingTransport, sqsEventOf, sqsRecord } from './lambda-shapes.js'

const RemindPayment = defineCommand('shop/remind-payment', 1)<{ orderId: string }>()
const CancelOrder = defineCommand('shop/cancel-order', 1)<{ orderId: string }>()

const setUp = () => {
  const clock = createVirtualClock(10_000)
  const transport = recordingTransport()
  const persistence = { ...memoryPersistence(), durable: true }
  const bus = createBus({ name: 'orders', transport, persistence, clock, logger: silentLogger })
  const dueRows = async () => (await persistence.measureBacklog(clock.now() + 1e12)).due
  return { bus, transport, dueRows }
}

const reminders = (...orderIds: string[]): SQSEvent =>
  sqsEventOf(
    orderIds.map((orderId) => ({
      envelope: envelopeOf(`reminder-${orderId}`, RemindPayment.$name, { orderId }),
      delivery: { dueAt: 9_000, attempt: 1 },
    })),
  )

const failuresOf = ({ batchItemFailures }: SQSBatchResponse) => batchItemFailures.map((one) => one.itemIdentifier)

const options = { name: 'billing', logger: silentLogger, environment: {}, redelivery: { enabled: false } }

describe('a receiver in a Lambda', () => {
  it('hands each record to the handler of its message, with what the message brought along', async () => {
    const { bus } = setUp()
    const seen: unknown[] = []
    const receive = createReceiver(
      bus,
      [
        handlerFor(RemindPayment, (message, ctx) => {
          seen.push([message.orderId, ctx.messageId, ctx.stickyAttributes, ctx.dueAt, ctx.latenessMs, ctx.attempt])
        }),
      ],
      options,
    )
    expect(await receive(reminders('1'), invocationContext())).toEqual({ batchItemFailures: [] })
    expect(seen).toEqual([['1', 'reminder-1', { tenant: 'acme' }, 9_000, 1_000, 1]])
  })

  it('reports the one that failed of ten, and sends what the nine others sent', async () => {
    const { bus, dueRows } = setUp()
    const handler = handlerFor(RemindPayment, async ({ orderId }, ctx) => {
      await ctx.send(CancelOrder({ orderId }), { deliverAfter: { days: 7 } })
      if (orderId === '3') throw new Error('declined')
    })
    const receive = createReceiver(bus, [handler], options)
    const answer = await receive(reminders('1', '2', '3', '4', '5', '6', '7', '8', '9', '10'))
    expect(failuresOf(answer)).toEqual(['record-3'])
    expect(await dueRows()).toBe(9)
  })

  it('reports every record when all have failed', async () => {
    const { bus } = setUp()
    const handler = handlerFor(RemindPayment, () => {
      throw new Error('the database is down')
    })
    const answer = await createReceiver(bus, [handler], options)(reminders('1', '2', '3'))
    expect(failuresOf(answer).sort()).toEqual(['record-1', 'record-2', 'record-3'])
  })

  it('reports every record when the bus itself breaks', async () => {
    const { bus } = setUp()
    const broken = { ...bus, handleRecords: () => Promise.reject(new Error('out of memory')) }
    const answer = await createReceiver(broken, [handlerFor(RemindPayment, () => {})], options)(reminders('1', '2'))
    expect(failuresOf(answer)).toEqual(['record-1', 'record-2'])
  })

  it('fails an unreadable record and an unknown name alone', async () => {
    const { bus } = setUp()
    const event = reminders('1')
    event.Records.push(sqsRecord('garbled', 'no JSON'), sqsRecord('empty', ''))
    const answer = await createReceiver(bus, [handlerFor(RemindPayment, () => {})], options)(event)
    expect(failuresOf(answer).sort()).toEqual(['empty', 'garbled'])
    const unknown = await createReceiver(bus, [handlerFor(CancelOrder, () => {})], options)(reminders('1'))
    expect(failuresOf(unknown)).toEqual(['record-1'])
  })

  it('repeats the ids of what a handler sends when its record comes again', async () => {
    const { bus, transport } = setUp()
    const handler = handlerFor(RemindPayment, ({ orderId }, ctx) => ctx.send(CancelOrder({ orderId })))
    const receive = createReceiver(bus, [handler], options)
    await receive(reminders('1'))
    await receive(reminders('1'))
    const [first, second] = transport.published.map(({ envelope }) => envelope)
    expect(first).toMatchObject({ name: 'shop/cancel-order', correlationId: 'conversation-of-reminder-1' })
    expect(second?.messageId).toBe(first?.messageId)
  })

  it('may be wrapped by middy', async () => {
    const { bus } = setUp()
    const steps: string[] = []
    const receive = createReceiver(bus, [handlerFor(RemindPayment, () => void steps.push('handled'))], options)
    const wrapped = middy(receive).use({
      before: () => void steps.push('before'),
      after: () => void steps.push('after'),
    })
    expect(await wrapped(reminders('1'), invocationContext())).toEqual({ batchItemFailures: [] })
    expect(steps).toEqual(['before', 'handled', 'after'])
  })

  it('may be wrapped by a decorator that takes any Lambda handler, as those of Powertools', async () => {
    const { bus } = setUp()
    // The shape of `makeIdempotent` and `captureLambdaHandler` alike: a function of event and context around another.
    const trace =
      <E, R>(inner: (event: E, context: Context) => Promise<R>) =>
      async (event: E, context: Context): Promise<R & { readonly traced: true }> => ({
        ...(await inner(event, context)),
        traced: true,
      })
    const traced = trace(createReceiver(bus, [handlerFor(RemindPayment, () => {})], options))
    expect(await traced(reminders('1'), invocationContext())).toEqual({ batchItemFailures: [], traced: true })
  })

  it('has the type of a handler behind SQS', () => {
    const { bus } = setUp()
    expectTypeOf(createReceiver(bus, [], options)).toExtend<SQSHandler>()
  })
})

describe('the start of a receiver', () => {
  const handlers: readonly Handler[] = [handlerFor(RemindPayment, () => {}), handlerFor(CancelOrder, () => {})]
  const start = (environment: Record<string, string>) =>
    createReceiver(setUp().bus, handlers, { ...options, environment })
  const subscribed = (names: string, receiver = 'billing') => ({
    POSTDATE_RECEIVER_NAME: receiver,
    POSTDATE_SUBSCRIBED_NAMES: names,
  })

  it('succeeds when handlers and subscription are the same, in any order', () => {
    expect(() => start(subscribed('shop/remind-payment,shop/cancel-order'))).not.toThrow()
  })

  it('succeeds outside of what the constructs made, where nothing is to be compared', () => {
    expect(() => start({})).not.toThrow()
  })

  it('fails, and names what is subscribed without a handler and handled without a subscription', () => {
    expect(() => start(subscribed('shop/remind-payment,shop/refund,shop/a-new-one'))).toThrowError(
      expect.objectContaining({
        code: 'receiver.subscription-mismatch',
        details: {
          receiver: 'billing',
          expectedReceiver: 'billing',
          withoutHandler: ['shop/refund', 'shop/a-new-one'],
          withoutSubscription: ['shop/cancel-order'],
        },
      }),
    )
  })

  it('fails when the queue belongs to a receiver of another name', () => {
    expect(() => start(subscribed('shop/remind-payment,shop/cancel-order', 'mailing'))).toThrowError(
      /the queue belongs to the receiver mailing/,
    )
  })

  it('refuses a concurrency of none', () => {
    expect(() => createReceiver(setUp().bus, handlers, { ...options, concurrency: 0 })).toThrowError(
      expect.objectContaining({ code: 'options.invalid' }),
    )
  })
})
