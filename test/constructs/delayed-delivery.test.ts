import { Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib'
import { Match, type Template } from 'aws-cdk-lib/assertions'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { beforeAll, describe, expect, it } from 'vitest'
import { DelayedDelivery } from '../../lib/constructs/delayed-delivery.js'
import type { DelayedDeliveryProps } from '../../lib/constructs/delivery-props.js'
import { bundleFunctions, environmentOf, findResource, synthesize, userFunction } from './synthesize.js'

beforeAll(bundleFunctions)

const deliveryWith = (
  props: Partial<DelayedDeliveryProps> = {},
  more: (delivery: DelayedDelivery, stack: Stack) => void = () => {},
) => synthesize((stack) => more(new DelayedDelivery(stack, 'Delivery', { busName: 'orders', ...props }), stack))

const typesIn = (template: Template): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { Type } of Object.values(template.toJSON().Resources as Record<string, { Type: string }>))
    counts[Type] = (counts[Type] ?? 0) + 1
  return counts
}

describe('the table', () => {
  it('has the keys of the persistence, and is kept, protected and restorable unless told otherwise', () => {
    const template = deliveryWith()
    template.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
        ],
        BillingMode: 'PAY_PER_REQUEST',
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        DeletionProtectionEnabled: true,
        GlobalSecondaryIndexes: Match.absent(),
      },
    })
  })

  it('goes with its stack when that is wanted', () => {
    const template = deliveryWith({ removalPolicy: RemovalPolicy.DESTROY, pointInTimeRecovery: false })
    template.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Delete',
      Properties: {
        DeletionProtectionEnabled: false,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
      },
    })
  })
})

describe('topic and queues', () => {
  it('take nothing that comes without TLS', () => {
    const template = deliveryWith()
    const deny = Match.objectLike({
      Effect: 'Deny',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    })
    const queues = Object.keys(template.findResources('AWS::SQS::Queue')).length
    const statements = { Properties: { PolicyDocument: { Statement: Match.arrayWith([deny]) } } }
    expect(Object.keys(template.findResources('AWS::SQS::QueuePolicy', statements))).toHaveLength(queues)
    expect(Object.keys(template.findResources('AWS::SNS::TopicPolicy', statements))).toHaveLength(1)
  })

  it('keep what has to be looked at for two weeks, and hints for an hour', () => {
    const template = deliveryWith()
    const retention = Object.entries(template.findResources('AWS::SQS::Queue')).map(([id, { Properties }]) => [
      id.replace(/[0-9A-F]{8}$/, ''),
      Properties.MessageRetentionPeriod,
    ])
    const twoWeeks = 14 * 86_400
    expect(Object.fromEntries(retention)).toEqual({
      DeliveryHints: 3_600,
      DeliveryHintDeadLetters: twoWeeks,
      DeliveryTickDeadLetters: twoWeeks,
      DeliveryUnrouted: twoWeeks,
      DeliveryUnroutedDeadLetters: twoWeeks,
    })
  })
})

describe('the dispatcher', () => {
  it('runs on arm64, has five minutes, and knows table, topic and mode', () => {
    const template = deliveryWith()
    expect(findResource(template, 'AWS::Lambda::Function', 'DeliveryDispatcherFunction')).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      Timeout: 300,
      MemorySize: 256,
    })
    expect(environmentOf(template, 'DeliveryDispatcherFunction')).toEqual({
      POSTDATE_BUS_NAME: 'orders',
      POSTDATE_TABLE_NAME: { Ref: expect.stringMatching(/^DeliveryTable/) },
      POSTDATE_TOPIC_ARN: { Ref: expect.stringMatching(/^DeliveryTopic/) },
      POSTDATE_MODE: 'second',
    })
  })

  it('is called once a minute, by a role of its own, and not again when it fails', () => {
    const template = deliveryWith()
    template.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'rate(1 minute)',
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: {
        Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp('DispatcherFunction'), 'Arn'] },
        RoleArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('TickRole'), 'Arn'] },
        DeadLetterConfig: { Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp('TickDeadLetters'), 'Arn'] } },
        RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 2 },
      },
    })
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
    })
    template.hasResourceProperties('AWS::IAM::Role', {
      AssumeRolePolicyDocument: {
        Statement: [
          Match.objectLike({
            Principal: { Service: 'scheduler.amazonaws.com' },
            Condition: {
              StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' }, 'aws:SourceArn': Match.anyValue() },
            },
          }),
        ],
      },
    })
  })

  it('takes memory and log retention as props', () => {
    const template = deliveryWith({ memorySize: 512, logRetention: RetentionDays.ONE_DAY })
    expect(findResource(template, 'AWS::Lambda::Function', 'DeliveryDispatcherFunction').MemorySize).toBe(512)
    template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 1 })
  })
})

describe('the waker', () => {
  it('reads the queue of hints in batches, reports failures alone, and is never throttled to one', () => {
    const template = deliveryWith()
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('DeliveryHints'), 'Arn'] },
      BatchSize: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 10 },
    })
    expect(findResource(template, 'AWS::SQS::Queue', 'DeliveryHints')).toMatchObject({
      VisibilityTimeout: 180,
      RedrivePolicy: { maxReceiveCount: 5 },
    })
    expect(findResource(template, 'AWS::Lambda::Function', 'DeliveryWakerFunction').Timeout).toBe(30)
  })

  it('is not there in the mode of minutes, nor are hints', () => {
    const template = deliveryWith({ mode: 'minute' }, (delivery, stack) =>
      delivery.connect(userFunction(stack, 'Orders')),
    )
    expect(typesIn(template)).not.toHaveProperty('AWS::Lambda::EventSourceMapping')
    expect(Object.keys(template.findResources('AWS::SQS::Queue')).filter((id) => id.includes('Hint'))).toEqual([])
    expect(environmentOf(template, 'DeliveryDispatcherFunction').POSTDATE_MODE).toBe('minute')
    expect(environmentOf(template, 'Orders')).not.toHaveProperty('POSTDATE_WAKE_QUEUE_URL')
  })
})

describe('a connected function', () => {
  it('gets all that busFromEnvironment asks for', () => {
    const template = deliveryWith({}, (delivery, stack) => delivery.connect(userFunction(stack, 'Orders')))
    expect(environmentOf(template, 'Orders')).toEqual({
      POSTDATE_BUS_NAME: 'orders',
      POSTDATE_TABLE_NAME: { Ref: expect.stringMatching(/^DeliveryTable/) },
      POSTDATE_TOPIC_ARN: { Ref: expect.stringMatching(/^DeliveryTopic/) },
      POSTDATE_WAKE_QUEUE_URL: { Ref: expect.stringMatching(/^DeliveryHints/) },
    })
  })

  it('may be connected twice to one delivery, and not to two', () => {
    deliveryWith({}, (delivery, stack) => {
      const fn = userFunction(stack, 'Orders')
      delivery.connect(fn)
      expect(() => delivery.connect(fn)).not.toThrow()
      const other = new DelayedDelivery(stack, 'Other', { busName: 'other' })
      expect(() => other.connect(fn)).toThrow('Shop/Orders: it is connected to Shop/Delivery already')
    })
  })
})

describe('alarms', () => {
  it('watch lateness, silence, failures, dead messages and every queue of last resort', () => {
    const template = deliveryWith()
    const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm')).map(({ Properties: one }) =>
      [one.MetricName, one.Threshold, one.EvaluationPeriods, one.TreatMissingData].join(' '),
    )
    const queue = 'ApproximateNumberOfMessagesVisible 0 1 notBreaching'
    expect(alarms.sort()).toEqual([
      ...[queue, queue, queue, queue],
      'BacklogAgeMs 60000 2 notBreaching',
      'Dead 0 1 notBreaching',
      'DispatcherAlive 1 5 breaching',
      'Errors 0 3 notBreaching',
      'Errors 0 5 notBreaching',
    ])
  })

  it('ring what they are told to ring, and say where help is', () => {
    const template = deliveryWith({}, () => {})
    for (const { Properties } of Object.values(template.findResources('AWS::CloudWatch::Alarm'))) {
      expect(Properties.AlarmDescription).toMatch(/ What to do: docs\/guides\/alarms\.md#[a-z-]+$/)
      expect(Properties.AlarmActions).toBeUndefined()
    }
    const ringing = synthesize((stack) => {
      const action = new SnsAction(new Topic(stack, 'OnCall'))
      new DelayedDelivery(stack, 'Delivery', { busName: 'orders', alarmActions: [action] })
    })
    ringing.allResourcesProperties('AWS::CloudWatch::Alarm', {
      AlarmActions: [{ Ref: Match.stringLikeRegexp('^OnCall') }],
    })
  })

  it('are measured on the bus and the table, so that two stages of one account stay apart', () => {
    deliveryWith().hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'DispatcherAlive',
      Namespace: 'Postdate',
      ComparisonOperator: 'LessThanThreshold',
      Statistic: 'Sum',
      Period: 60,
      Dimensions: [
        { Name: 'Bus', Value: 'orders' },
        { Name: 'Table', Value: { Ref: Match.stringLikeRegexp('^DeliveryTable') } },
      ],
    })
  })

  it('can be left out, and their threshold set', () => {
    expect(typesIn(deliveryWith({ alarms: false }))).not.toHaveProperty('AWS::CloudWatch::Alarm')
    deliveryWith({ backlogAgeThreshold: Duration.seconds(5) }).hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'BacklogAgeMs',
      Threshold: 5_000,
    })
  })
})

describe('metrics', () => {
  it('have the statistic that tells, and take other ones', () => {
    deliveryWith({}, (delivery) => {
      expect(delivery.metricBacklogAge()).toMatchObject({ metricName: 'BacklogAgeMs', statistic: 'Maximum' })
      expect(delivery.metricBacklog()).toMatchObject({ metricName: 'Backlog', statistic: 'Maximum' })
      expect(delivery.metricDispatched()).toMatchObject({ metricName: 'Dispatched', statistic: 'Sum' })
      expect(delivery.metricLateness()).toMatchObject({ metricName: 'LatenessMs', statistic: 'p99' })
      expect(delivery.metricDead()).toMatchObject({ metricName: 'Dead', statistic: 'Maximum' })
      expect(delivery.metricErrors()).toMatchObject({ metricName: 'Errors', statistic: 'Sum' })
      expect(delivery.metricDispatcherAlive()).toMatchObject({ metricName: 'DispatcherAlive', statistic: 'Sum' })
      expect(delivery.metricLateness({ statistic: 'p50' }).statistic).toBe('p50')
    })
  })

  it('are on a dashboard, if one is wanted', () => {
    expect(typesIn(deliveryWith())).not.toHaveProperty('AWS::CloudWatch::Dashboard')
    const body = JSON.stringify(deliveryWith({ dashboard: true }).findResources('AWS::CloudWatch::Dashboard'))
    for (const metric of ['BacklogAgeMs', 'Backlog', 'LatenessMs', 'Dispatched', 'Errors', 'Dead', 'DispatcherAlive'])
      expect(body).toContain(metric)
  })
})

it.each(['', 'has space', 'x'.repeat(65), 'ünïcode'])('a bus can not be called %j', (busName) => {
  expect(() => deliveryWith({ busName })).toThrow(/^Shop\/Delivery: the busName .* must be 1 to 64 letters/)
})

it('a small number of resources does it all', () => {
  expect(typesIn(deliveryWith())).toEqual({
    'AWS::CloudWatch::Alarm': 9,
    'AWS::DynamoDB::Table': 1,
    'AWS::IAM::Policy': 3,
    'AWS::IAM::Role': 3,
    'AWS::Lambda::EventInvokeConfig': 1,
    'AWS::Lambda::EventSourceMapping': 1,
    'AWS::Lambda::Function': 2,
    'AWS::Logs::LogGroup': 2,
    'AWS::SNS::Subscription': 1,
    'AWS::SNS::Topic': 1,
    'AWS::SNS::TopicPolicy': 1,
    'AWS::SQS::Queue': 5,
    'AWS::SQS::QueuePolicy': 5,
    'AWS::Scheduler::Schedule': 1,
  })
})
