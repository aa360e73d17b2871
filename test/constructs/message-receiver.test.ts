import { Duration, Lazy } from 'aws-cdk-lib'
import { Match } from 'aws-cdk-lib/assertions'
import { beforeAll, describe, expect, it } from 'vitest'
import { DelayedDelivery } from '../../lib/constructs/delayed-delivery.js'
import type { DelayedDeliveryProps } from '../../lib/constructs/delivery-props.js'
import { MessageReceiver, type MessageReceiverProps } from '../../lib/constructs/message-receiver.js'
import { defineCommand, defineEvent } from '../../lib/core/message.js'
import { handlerFor } from '../../lib/core/receiver.js'
import { createReceiver } from '../../lib/lambda/create-receiver.js'
import { createBus } from '../../lib/memory/create-bus.js'
import { bundleFunctions, environmentOf, findResource, synthesize, userFunction } from './synthesize.js'

beforeAll(bundleFunctions)

const PlaceOrder = defineCommand('orders/place', 1)<{ orderId: string }>()
const OrderPlaced = defineEvent('orders/placed', 1)<{ orderId: string }>()

const names = (count: number, prefix = 'message') => Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

const shopWith = (
  props: Partial<MessageReceiverProps> = {},
  { timeout, ...delivery }: Partial<DelayedDeliveryProps> & { timeout?: Duration } = {},
) =>
  synthesize((stack) => {
    new MessageReceiver(stack, 'Billing', {
      delivery: new DelayedDelivery(stack, 'Delivery', { busName: 'orders', ...delivery }),
      name: 'billing',
      handler: userFunction(stack, 'Handler', { timeout: timeout ?? Duration.seconds(20) }),
      messages: [PlaceOrder, OrderPlaced],
      ...props,
    })
  })

/** An environment as a function gets it: each reference is text, here the logical id of what it refers to. */
const deployed = (variables: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : String((value as { Ref?: string }).Ref),
    ]),
  )

describe('a receiver', () => {
  it('is subscribed raw, to its messages and its own redeliveries, with dead letters of its own', () => {
    expect(findResource(shopWith(), 'AWS::SNS::Subscription', 'BillingSubscription')).toEqual({
      TopicArn: { Ref: expect.stringMatching(/^DeliveryTopic/) },
      Protocol: 'sqs',
      Endpoint: { 'Fn::GetAtt': [expect.stringMatching(/^BillingQueue/), 'Arn'] },
      RawMessageDelivery: true,
      FilterPolicy: { route: ['orders/place', 'orders/placed', '@billing'] },
      RedrivePolicy: {
        deadLetterTargetArn: { 'Fn::GetAtt': [expect.stringMatching(/^BillingSubscriptionDeadLetters/), 'Arn'] },
      },
    })
  })

  it('lets its topic, and no other, send to queue and subscription dead letters', () => {
    const template = shopWith()
    const fromTopic = Match.objectLike({
      Effect: 'Allow',
      Principal: { Service: 'sns.amazonaws.com' },
      Action: 'sqs:SendMessage',
      Condition: { ArnEquals: { 'aws:SourceArn': { Ref: Match.stringLikeRegexp('^DeliveryTopic') } } },
    })
    const policies = template.findResources('AWS::SQS::QueuePolicy', {
      Properties: { PolicyDocument: { Statement: Match.arrayWith([fromTopic]) } },
    })
    const ids = Object.keys(policies).map((id) => id.replace(/Policy[0-9A-F]{8}$/, ''))
    expect(ids.filter((id) => id.startsWith('Billing')).sort()).toEqual([
      'BillingQueue',
      'BillingSubscriptionDeadLetters',
    ])
  })

  it('hides a record for six times the time-out, and gives it up after five receives', () => {
    expect(findResource(shopWith(), 'AWS::SQS::Queue', 'BillingQueue')).toMatchObject({
      VisibilityTimeout: 120,
      MessageRetentionPeriod: 14 * 86_400,
      SqsManagedSseEnabled: true,
      RedrivePolicy: {
        maxReceiveCount: 5,
        deadLetterTargetArn: { 'Fn::GetAtt': [expect.stringMatching(/^BillingDeadLetters/), 'Arn'] },
      },
    })
  })

  it('hands ten records to a call, takes failures one by one, and runs ten calls at once', () => {
    shopWith().hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^BillingQueue'), 'Arn'] },
      BatchSize: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 10 },
    })
  })

  it('tells its function what it is subscribed to, as createReceiver compares it', () => {
    const environment = deployed(environmentOf(shopWith(), 'Handler'))
    expect(environment).toMatchObject({
      POSTDATE_RECEIVER_NAME: 'billing',
      POSTDATE_SUBSCRIBED_NAMES: 'orders/place,orders/placed',
      POSTDATE_BUS_NAME: 'orders',
      POSTDATE_DEAD_LETTER_QUEUE_URL: expect.stringMatching(/^BillingDeadLetters/),
    })
    const bus = createBus({ name: 'orders' })
    const start = (...handlers: Parameters<typeof createReceiver>[1]) =>
      createReceiver(bus, handlers, { name: 'billing', environment })
    expect(() =>
      start(
        handlerFor(PlaceOrder, () => {}),
        handlerFor(OrderPlaced, () => {}),
      ),
    ).not.toThrow()
    expect(() => start(handlerFor(PlaceOrder, () => {}))).toThrow('subscribed without a handler: orders/placed')
  })

  it('says the same of 149 long names', () => {
    const messages = names(149, 'x'.repeat(240))
    const environment = deployed(environmentOf(shopWith({ messages }, { unrouted: false }), 'Handler'))
    const handlers = messages.map(($name) => handlerFor(defineCommand($name)(), () => {}))
    const bus = createBus({ name: 'orders' })
    expect(() => createReceiver(bus, handlers, { name: 'billing', environment })).not.toThrow()
    expect(environment.POSTDATE_SUBSCRIBED_NAMES?.length).toBeLessThan(2_048)
  })

  it('has alarms on both dead-letter queues and on its function, unless told otherwise', () => {
    const alarmsOf = (template: ReturnType<typeof shopWith>) =>
      Object.keys(template.findResources('AWS::CloudWatch::Alarm'))
        .filter((id) => id.startsWith('Billing'))
        .map((id) => id.replace(/[0-9A-F]{8}$/, ''))
        .sort()
    expect(alarmsOf(shopWith())).toEqual([
      'BillingReceiverDeadLettersAlarm',
      'BillingReceiverFailsAlarm',
      'BillingSubscriptionDeadLettersAlarm',
    ])
    expect(alarmsOf(shopWith({ alarms: false }))).toEqual([])
  })
})

describe('a receiver is refused', () => {
  it.each<[string, Partial<MessageReceiverProps>, string]>([
    ['without messages', { messages: [] }, 'the receiver billing takes no messages'],
    ['with 150 messages', { messages: names(150) }, 'at most 150 values, one of which is for redeliveries'],
    ['with a message twice', { messages: ['orders/place', PlaceOrder] }, 'the message orders/place is there twice'],
    ['with a name that is none', { messages: ['has space'] }, '"has space" is no message name'],
    ['with a name not known at synth', { messages: [Lazy.string({ produce: () => 'later' })] }, 'is no message name'],
    ['with a bad name of its own', { name: 'a/b' }, 'the receiver name "a/b" must be'],
    ['with a concurrency of 1', { maxConcurrency: 1 }, 'maxConcurrency is 1; it must be an integer from 2 to 1000'],
    [
      'with fewer than five receives',
      { maxReceiveCount: 4 },
      'maxReceiveCount is 4; it must be an integer from 5 to 1000',
    ],
    ['with a batch of 11', { batchSize: 11 }, 'batchSize is 11; it must be an integer from 1 to 10'],
    [
      'with a visibility below the time-out',
      { visibilityTimeout: Duration.seconds(19) },
      "visibilityTimeout is 19 s, less than the function's time-out of 20 s",
    ],
  ])('%s', (_, props, message) => {
    expect(() => shopWith(props)).toThrow(message)
  })

  it('when another of the delivery has its name, or another has its function', () => {
    synthesize((stack) => {
      const delivery = new DelayedDelivery(stack, 'Delivery', { busName: 'orders' })
      const handler = userFunction(stack, 'Handler')
      const props = { delivery, name: 'billing', handler, messages: [PlaceOrder] }
      new MessageReceiver(stack, 'Billing', props)
      const again = () => new MessageReceiver(stack, 'Again', { ...props, handler: userFunction(stack, 'Other') })
      expect(again).toThrow('Shop/Delivery: it has two receivers called billing')
      const shared = () => new MessageReceiver(stack, 'Shared', { ...props, name: 'mailing' })
      expect(shared).toThrow('Shop/Shared: its function is the receiver Shop/Billing already')
    })
  })
})

describe('the unrouted queue', () => {
  const filterOf = (template: ReturnType<typeof shopWith>) =>
    findResource(template, 'AWS::SNS::Subscription', 'DeliveryUnroutedSubscription').FilterPolicy

  it('gets what no receiver takes, and what has no route at all', () => {
    expect(filterOf(shopWith())).toEqual({
      route: [{ 'anything-but': ['@billing', 'orders/place', 'orders/placed'] }, { exists: false }],
    })
  })

  it('gets everything while there is no receiver', () => {
    const template = synthesize((stack) => void new DelayedDelivery(stack, 'Delivery', { busName: 'orders' }))
    expect(filterOf(template)).toEqual({ route: [{ exists: true }, { exists: false }] })
  })

  it('leaves alone what receivers of other stacks take', () => {
    const receiversElsewhere = [{ name: 'mailing', messages: [OrderPlaced, 'orders/shipped'] }]
    expect(filterOf(shopWith({}, { receiversElsewhere }))).toEqual({
      route: [
        { 'anything-but': ['@billing', '@mailing', 'orders/place', 'orders/placed', 'orders/shipped'] },
        { exists: false },
      ],
    })
  })

  it('is refused when its filter would have more values than AWS takes', () => {
    const receiversElsewhere = [{ name: 'mailing', messages: names(145) }]
    expect(() => shopWith({}, { receiversElsewhere })).not.toThrow()
    const tooMany = [{ name: 'mailing', messages: names(146) }]
    expect(() => shopWith({}, { receiversElsewhere: tooMany })).toThrow('set unrouted to false')
    expect(() => shopWith({}, { receiversElsewhere: tooMany, unrouted: false })).not.toThrow()
  })
})
