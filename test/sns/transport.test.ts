import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { snsTransport } from '../../lib/sns/transport.js'
import { startTestMessaging, type TestMessaging } from '../support/messaging.js'
import { publicationOf } from './publications.js'

let messaging: TestMessaging
beforeAll(async () => {
  messaging = await startTestMessaging()
})
afterAll(() => messaging.stop())

const published = { outcome: 'published' }
const bodies = (messages: readonly { Body?: string }[]) => messages.map(({ Body }) => Body).sort()

describe('publishing to a topic', () => {
  it('delivers a batch of ten raw, the body byte for byte', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'ten', names: ['orders/ten'] })
    const transport = snsTransport({ topicArn: messaging.topicArn, client: messaging.sns })
    const batch = Array.from({ length: 10 }, (_, index) => publicationOf(`m${index}`, { name: 'orders/ten' }))
    expect(await transport.publish(batch)).toEqual(batch.map(() => published))
    expect(bodies(await messaging.drain(queueUrl, 10))).toEqual(batch.map(({ envelope }) => envelope.body).sort())
  })

  it('delivers a batch of one', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'one', names: ['orders/one'] })
    const transport = snsTransport({ topicArn: messaging.topicArn, client: messaging.sns })
    expect(await transport.publish([publicationOf('alone', { name: 'orders/one' })])).toEqual([published])
    const [message] = await messaging.drain(queueUrl, 1)
    expect(message?.MessageAttributes?.messageId).toMatchObject({ DataType: 'String', StringValue: 'alone' })
  })

  it('sends one message twice when a batch holds it twice, with an outcome for each', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'twice', names: ['orders/twice'] })
    const transport = snsTransport({ topicArn: messaging.topicArn, client: messaging.sns })
    const message = publicationOf('same', { name: 'orders/twice' })
    expect(await transport.publish([message, message])).toEqual([published, published])
    expect(await messaging.drain(queueUrl, 2)).toHaveLength(2)
  })

  it('shows a redelivery to its one receiver only', async () => {
    const billing = await messaging.addQueue({ receiver: 'billing', names: ['orders/both'] })
    const shipping = await messaging.addQueue({ receiver: 'shipping', names: ['orders/both'] })
    const transport = snsTransport({ topicArn: messaging.topicArn, client: messaging.sns })
    await transport.publish([
      publicationOf('again', { name: 'orders/both' }, { attempt: 2, target: 'billing' }),
      publicationOf('first', { name: 'orders/both' }),
    ])
    const ids = async (queueUrl: string, count: number, withinMs?: number) =>
      (await messaging.drain(queueUrl, count, withinMs))
        .map((one) => one.MessageAttributes?.messageId?.StringValue)
        .sort()
    expect(await ids(billing.queueUrl, 2)).toEqual(['again', 'first'])
    // Asks for a second message, which must not come.
    expect(await ids(shipping.queueUrl, 2, 500)).toEqual(['first'])
  })

  it('lets nine go when the tenth is too large', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'nine', names: ['orders/nine'] })
    const transport = snsTransport({ topicArn: messaging.topicArn, client: messaging.sns })
    const batch = Array.from({ length: 10 }, (_, index) =>
      publicationOf(`m${index}`, { name: 'orders/nine', ...(index === 4 && { body: `"${'x'.repeat(262_144)}"` }) }),
    )
    const outcomes = await transport.publish(batch)
    expect(outcomes[4]).toMatchObject({ outcome: 'failed', blames: 'message', published: 'no' })
    expect(outcomes.filter(({ outcome }) => outcome === 'published')).toHaveLength(9)
    expect(await messaging.drain(queueUrl, 9)).toHaveLength(9)
  })

  it('blames the topic when there is none', async () => {
    const topicArn = messaging.topicArn.replace(/[^:]+$/, 'missing')
    const transport = snsTransport({ topicArn, client: messaging.sns })
    expect(await transport.publish([publicationOf('a'), publicationOf('b')])).toEqual([
      expect.objectContaining({ outcome: 'failed', blames: 'topic', published: 'no' }),
      expect.objectContaining({ outcome: 'failed', blames: 'topic', published: 'no' }),
    ])
  })

  it('leaves an attribute out rather than sending it empty', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'empty', names: ['orders/empty'] })
    const transport = snsTransport({ topicArn: messaging.topicArn, client: messaging.sns })
    await transport.publish([publicationOf('e', { name: 'orders/empty', correlationId: '' })])
    const [message] = await messaging.drain(queueUrl, 1)
    expect(Object.keys(message?.MessageAttributes ?? {}).sort()).toEqual([
      'delivery',
      'kind',
      'messageId',
      'messageName',
      'route',
    ])
  })

  it('answers an empty batch with no outcomes and no request', async () => {
    const transport = snsTransport({ topicArn: messaging.topicArn, client: messaging.sns })
    expect(await transport.publish([])).toEqual([])
  })
})

describe('the options of the transport', () => {
  it("has the topic's limits for a message and for a batch", () => {
    const topicArn = 'arn:aws:sns:eu-west-1:123456789012:orders'
    expect(snsTransport({ topicArn })).toMatchObject({
      name: 'sns:orders',
      limits: { maxMessageBytes: 262_144, maxBatchBytes: 262_144, maxBatchMessages: 10 },
    })
    expect(snsTransport({ topicArn, maxMessageBytes: 1_048_576 }).limits.maxBatchBytes).toBe(1_048_576)
  })

  it.each([
    ['topicArn', { topicArn: 'orders' }],
    ['topicArn', { topicArn: 'arn:aws:sns:eu-west-1:123456789012:orders.fifo' }],
    ['topicArn', { topicArn: 'arn:aws:sqs:eu-west-1:123456789012:orders' }],
    ['maxMessageBytes', { maxMessageBytes: 1023 }],
    ['maxMessageBytes', { maxMessageBytes: 1_048_577 }],
    ['publishTimeoutMs', { publishTimeoutMs: 0 }],
    ['publishTimeoutMs', { publishTimeoutMs: Number.NaN }],
    ['publishTimeoutMs', { publishTimeoutMs: 2 ** 31 }],
  ])('refuses a wrong %s', (option, changes) => {
    const make = () => snsTransport({ topicArn: 'arn:aws:sns:eu-west-1:123456789012:orders', ...changes })
    expect(make).toThrow(
      expect.objectContaining({ code: 'options.invalid', details: expect.objectContaining({ option }) }),
    )
  })
})
