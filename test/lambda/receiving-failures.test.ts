import { describe, expect, it } from 'vitest'
import { sleepUntil } from '../../lib/core/clock.js'
import { defineCommand } from '../../lib/core/message.js'
import { type BusEvent, silentLogger } from '../../lib/core/observation.js'
import { type Handler, handlerFor } from '../../lib/core/receiver.js'
import { reject, requeue } from '../../lib/core/redelivery/handler-result.js'
import { type CreateReceiverOptions, createReceiver } from '../../lib/lambda/create-receiver.js'
import { meterReceiving } from '../../lib/lambda/meter-receiving.js'
import { createBus } from '../../lib/memory/create-bus.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'
import { keepDeadLetters } from '../core/redelivery/batch-stage.js'
import { envelopeOf, invocationContext, recordingTransport, sqsEventOf } from './lambda-shapes.js'

const RemindPayment = defineCommand('shop/remind-payment', 1)<{ orderId: string }>()

const setUp = (handler: Handler, options: Partial<CreateReceiverOptions> = {}) => {
  const clock = createVirtualClock(10_000)
  const transport = recordingTransport()
  const persistence = { ...memoryPersistence(), durable: true }
  const events: BusEvent[] = []
  const bus = createBus({
    name: 'orders',
    transport,
    persistence,
    clock,
    logger: silentLogger,
    onEvent: (event) => void events.push(event),
  })
  const deadLetters = keepDeadLetters()
  const receive = createReceiver(bus, [handler], {
    name: 'billing',
    logger: silentLogger,
    environment: {},
    deadLetters,
    ...options,
  })
  const rows = async () => {
    const now = clock.now() + 10 ** 12
    return (await persistence.claimDueOutgoingMessages({ now, dueBefore: now, limit: 100, leaseMs: 1 })).claims
  }
  return { clock, receive, rows, deadLetters, events }
}

const reminders = (...orderIds: string[]) =>
  sqsEventOf(
    orderIds.map((orderId) => ({
      envelope: envelopeOf(`reminder-${orderId}`, RemindPayment.$name, { orderId }),
      delivery: { attempt: 1 },
    })),
  )

const accepted = { batchItemFailures: [] }

describe('a receiver in a Lambda', () => {
  it('acknowledges what has failed once its copy is durable, to be delivered to it alone in 10 s', async () => {
    const { receive, rows, clock } = setUp(
      handlerFor(RemindPayment, ({ orderId }) => {
        if (orderId === '2') throw new Error('declined')
      }),
    )
    expect(await receive(reminders('1', '2', '3'), invocationContext())).toEqual(accepted)
    expect(await rows()).toMatchObject([
      { rowId: 'reminder-2~billing~2', target: 'billing', attempt: 2, dueAt: clock.now() + 10_000 },
    ])
  })

  it('takes the options of a receiver: how it redelivers, what runs around its handlers', async () => {
    const steps: string[] = []
    const { receive, rows, clock } = setUp(
      handlerFor(RemindPayment, () => {
        throw new Error('declined')
      }),
      {
        redelivery: { delay: { minutes: 3 } },
        incoming: [
          async ({ receiver }, next) => {
            steps.push(receiver)
            return next()
          },
        ],
      },
    )
    await receive(reminders('1'), invocationContext())
    expect((await rows()).map(({ dueAt }) => dueAt - clock.now())).toEqual([180_000])
    expect(steps).toEqual(['billing'])
  })

  it('refuses options of redelivery that mean nothing, when the function starts', () => {
    const handler = handlerFor(RemindPayment, () => {})
    expect(() => setUp(handler, { redelivery: { maxAttempts: 0 } })).toThrowError(
      expect.objectContaining({ code: 'options.invalid' }),
    )
  })

  it('sends to its dead letters what it gives up on', async () => {
    const { receive, deadLetters } = setUp(handlerFor(RemindPayment, () => reject('no such order')))
    expect(await receive(reminders('1'), invocationContext())).toEqual(accepted)
    expect(deadLetters.letters).toMatchObject([{ reason: 'rejected: no such order', receiver: 'billing', attempt: 1 }])
  })

  it('watches the time of its invocation, and answers before it is over', async () => {
    const { clock, receive } = setUp(
      handlerFor(RemindPayment, ({ orderId }) => sleepUntil(clock, clock.now() + (orderId === '1' ? 60_000 : 1_000))),
      { concurrency: 2 },
    )
    const startedAt = clock.now()
    const answer = await clock.runUntil(receive(reminders('1', '2', '3'), invocationContext('request', 10_000)))
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'record-1' }] })
    expect(clock.now() - startedAt).toBeLessThan(10_000)
  })

  it.each([undefined, null, {}, { getRemainingTimeInMillis: () => Number.NaN }])(
    'does not watch time where the context is %o',
    async (context) => {
      const { clock, receive } = setUp(handlerFor(RemindPayment, () => sleepUntil(clock, clock.now() + 3_600_000)))
      expect(await clock.runUntil(receive(reminders('1'), context))).toEqual(accepted)
      expect(clock.pendingTimers()).toBe(0)
    },
  )
})

describe('the metrics of a receiver', () => {
  const connected = {
    POSTDATE_BUS_NAME: 'orders',
    POSTDATE_TABLE_NAME: 'orders-delayed',
    POSTDATE_RECEIVER_NAME: 'billing',
  }
  const about = { messageId: 'm', name: 'n', receiver: 'billing' }
  const events: readonly BusEvent[] = [
    { type: 'redelivery-stored', ...about, attempt: 2, dueAt: 1, why: 'failed' },
    { type: 'redelivery-stored', ...about, attempt: 3, dueAt: 1, why: 'requeued' },
    { type: 'dead-lettered', recordId: 'r', receiver: 'billing', reason: 'no' },
    { type: 'newer-version', ...about, version: 2, known: 1 },
    { type: 'handled', ...about },
  ]

  it('are one line for each batch in which something is counted', () => {
    const lines: string[] = []
    const meter = meterReceiving(connected, (line) => lines.push(line))
    for (const event of events) meter.count(event)
    meter.flush()
    meter.flush()
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        _aws: {
          Timestamp: expect.any(Number),
          CloudWatchMetrics: [
            {
              Namespace: 'Postdate',
              Dimensions: [['Bus', 'Table', 'Receiver']],
              Metrics: [
                { Name: 'Redeliveries', Unit: 'Count' },
                { Name: 'DeadLetters', Unit: 'Count' },
                { Name: 'NewerVersions', Unit: 'Count' },
              ],
            },
          ],
        },
        Bus: 'orders',
        Table: 'orders-delayed',
        Receiver: 'billing',
        Redeliveries: 2,
        DeadLetters: 1,
        NewerVersions: 1,
      },
    ])
  })

  it('are not written where nothing happened, or nobody has connected the function', () => {
    const lines: string[] = []
    meterReceiving(connected, (line) => lines.push(line)).flush()
    const stranger = meterReceiving({ ...connected, POSTDATE_BUS_NAME: undefined }, (line) => lines.push(line))
    for (const event of events) stranger.count(event)
    stranger.flush()
    expect(lines).toEqual([])
  })
})

it('a requeue waits in the store, whatever SQS can delay', async () => {
  const { receive, rows, clock } = setUp(
    handlerFor(RemindPayment, () => requeue({ after: { seconds: 54_524 } })),
    // Off for failures; a requeue is asked for.
    { redelivery: { enabled: false } },
  )
  expect(await receive(reminders('1'), invocationContext())).toEqual(accepted)
  expect((await rows()).map(({ dueAt }) => dueAt - clock.now())).toEqual([54_524_000])
})
