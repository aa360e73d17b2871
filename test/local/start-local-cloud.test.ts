import { expect, it } from 'vitest'
import { messagesIn } from './support/clients.js'
import {
  allow,
  anyResource,
  arnOf,
  lambda,
  letTopicSend,
  queue,
  ref,
  subscription,
  table,
  topic,
} from './support/resources.js'
import { startForTest as start } from './support/start-for-test.js'

it('an app of several stacks runs as one cloud, and one stack reads what another exports', async () => {
  const cloud = await start({
    Store: {
      resources: { ...table('Rows', { TableName: 'rows' }), ...queue('Orders', { QueueName: 'orders' }) },
      outputs: {
        Arn: { Value: arnOf('Rows'), Export: { Name: { 'Fn::Sub': '$' + '{AWS::StackName}:Arn' } } },
        Url: { Value: ref('Orders') },
      },
    },
    Shop: {
      resources: {
        ...lambda('Caller', 'caller', [allow(['dynamodb:GetItem'], { 'Fn::ImportValue': 'Store:Arn' })]),
      },
    },
  })
  expect(cloud.outputs.Store).toEqual({
    Arn: 'arn:aws:dynamodb:us-east-1:000000000000:table/rows',
    Url: cloud.queueUrl('Orders'),
  })
  const calls = [['dynamodb', 'GetItem', { TableName: 'rows', Key: { pk: { S: 'a' }, sk: { S: 'b' } } }]]
  expect((await cloud.invoke('Caller', { calls })).payload).toEqual([{}])
})

it('functions of two stacks that have the same logical id are told apart', async () => {
  const inStack = (stack: string) => {
    const { Probe: probe, ...others } = lambda('Probe', 'probe')
    if (probe === undefined) throw new Error('there is no function')
    return { resources: { ...others, Probe: { ...probe, Metadata: { 'aws:cdk:path': `${stack}/Probe/Resource` } } } }
  }
  const cloud = await start({ Shop: inStack('Shop'), Office: inStack('Office') })
  await cloud.invoke('Shop/Probe', { action: 'echo', of: 'shop' })
  await cloud.invoke('Office/Probe', { action: 'echo', of: 'office' })
  const payloads = (name: string) => cloud.invocations(name).map(({ payload }) => payload)
  expect(payloads('Shop/Probe')).toEqual([{ action: 'echo', of: 'shop' }])
  expect(payloads('Office/Probe')).toEqual([{ action: 'echo', of: 'office' }])
  expect(cloud.invocations()).toHaveLength(2)
})

it('a stack that fixes account and region has them in its ARNs, and deliveries work', async () => {
  const cloud = await start({
    Demo: {
      environment: 'aws://123456789012/eu-west-1',
      resources: {
        ...topic('Messages', { TopicName: 'messages' }),
        ...queue('DeadLetters'),
        ...queue('Orders', {
          RedrivePolicy: { deadLetterTargetArn: arnOf('DeadLetters'), maxReceiveCount: 1 },
          VisibilityTimeout: 0,
        }),
        ...letTopicSend('Messages', ['Orders']),
        ...subscription('ToOrders', 'Messages', 'Orders'),
        ...lambda('Caller', 'caller', [allow(['sns:Publish', 'sns:ListSubscriptionsByTopic'], ref('Messages'))]),
      },
      outputs: { Topic: { Value: ref('Messages') } },
    },
  })
  expect(cloud.outputs.Demo).toEqual({ Topic: 'arn:aws:sns:eu-west-1:123456789012:messages' })
  const TopicArn = cloud.outputs.Demo?.Topic
  const { payload } = await cloud.invoke('Caller', {
    calls: [
      ['sns', 'Publish', { TopicArn, Message: 'hello' }],
      ['sns', 'ListSubscriptionsByTopic', { TopicArn }],
    ],
  })
  expect(JSON.stringify(payload)).toContain('"Endpoint":"arn:aws:sqs:eu-west-1:123456789012:Demo-Orders')
  expect((await messagesIn(cloud, 'Orders')).map(({ Body }) => Body)).toEqual(['hello'])
  expect(await messagesIn(cloud, 'Orders')).toEqual([])
  expect((await messagesIn(cloud, 'DeadLetters')).map(({ Body }) => Body)).toEqual(['hello'])
})

it('resources with nothing to do here are listed once', async () => {
  const lines: string[] = []
  await start(
    {
      Demo: {
        resources: {
          ...anyResource('Metadata', 'AWS::CDK::Metadata'),
          ...anyResource('Log', 'AWS::Logs::LogGroup'),
          ...anyResource('OtherLog', 'AWS::Logs::LogGroup'),
        },
      },
    },
    lines,
  )
  expect(lines).toEqual(['nothing to do here for 1 AWS::CDK::Metadata, 2 AWS::Logs::LogGroup'])
})

it('a call that the local cloud does not know fails it, the function and the whole run', async () => {
  const cloud = await start({
    Demo: { resources: { ...lambda('Caller', 'caller', [allow(['sqs:ListQueues'], '*')]) } },
  })
  const { payload } = await cloud.invoke('Caller', { calls: [['sqs', 'ListQueues', {}]] })
  expect(JSON.stringify(payload)).toContain('the local cloud does not know what AmazonSQS.ListQueues needs')
  await expect(cloud.stop()).rejects.toMatchObject({ code: 'call.unknown' })
})

it('removing one grant makes the same run fail with AccessDenied', async () => {
  const run = async (grants: readonly string[]) => {
    const cloud = await start({
      Demo: {
        resources: {
          ...table('Rows', { TableName: 'rows' }),
          ...lambda('Caller', 'caller', [allow(grants, arnOf('Rows'))]),
        },
      },
    })
    const { payload } = await cloud.invoke('Caller', {
      calls: [['dynamodb', 'PutItem', { TableName: 'rows', Item: { pk: { S: 'a' }, sk: { S: 'b' } } }]],
    })
    return JSON.stringify(payload)
  }
  expect(await run(['dynamodb:PutItem', 'dynamodb:GetItem'])).toBe('[{}]')
  expect(await run(['dynamodb:GetItem'])).toMatch(/AccessDeniedException.*dynamodb:PutItem.*table\/rows.*Demo\/Caller/)
})

it('an app runs on dynalite as well, where the platform has no dynoxide', async () => {
  const cloud = await start(
    {
      Demo: {
        resources: {
          ...table('Rows', { TableName: 'rows' }),
          ...lambda('Caller', 'caller', [allow(['dynamodb:PutItem', 'dynamodb:GetItem'], arnOf('Rows'))]),
        },
      },
    },
    [],
    { dynamodb: 'dynalite' },
  )
  const key = { pk: { S: 'a' }, sk: { S: 'b' } }
  const calls = [
    ['dynamodb', 'PutItem', { TableName: 'rows', Item: key }],
    ['dynamodb', 'GetItem', { TableName: 'rows', Key: key }],
  ]
  expect((await cloud.invoke('Caller', { calls })).payload).toEqual([{}, { Item: key }])
})

it('an alarm tells what was measured of its metric, and whether it would ring', async () => {
  const alarm = (logicalId: string, properties: object) =>
    anyResource(logicalId, 'AWS::CloudWatch::Alarm', {
      ...{ Namespace: 'AWS/Lambda', MetricName: 'Errors', Statistic: 'Sum', Period: 60, EvaluationPeriods: 1 },
      ...{ Threshold: 1, ComparisonOperator: 'GreaterThanOrEqualToThreshold' },
      Dimensions: [{ Name: 'FunctionName', Value: ref('Probe') }],
      ...properties,
    })
  const cloud = await start({
    Demo: {
      resources: {
        ...lambda('Probe', 'probe'),
        ...alarm('Failing', {}),
        ...alarm('OftenFailing', { Threshold: 2 }),
        ...alarm('Silent', { MetricName: 'Nothing', TreatMissingData: 'breaching' }),
        ...alarm('Misnamed', { Dimensions: [] }),
        ...anyResource('Sum', 'AWS::CloudWatch::Alarm', {
          Metrics: [
            { Id: 'e', Expression: 'm' },
            {
              Id: 'm',
              MetricStat: {
                Metric: {
                  Namespace: 'AWS/Lambda',
                  MetricName: 'Errors',
                  Dimensions: [{ Name: 'FunctionName', Value: ref('Probe') }],
                },
              },
            },
          ],
        }),
      },
    },
  })
  await cloud.invoke('Probe', { action: 'fail', message: 'no' })
  const alarms = await cloud.alarms()
  expect(alarms.map(({ path, rings }) => [path.split('/')[1], rings])).toEqual([
    ['Failing', true],
    ['OftenFailing', false],
    ['Silent', true],
    ['Misnamed', false],
    ['Sum', undefined],
  ])
  expect(alarms.map(({ metrics: [metric] }) => metric?.samples.length)).toEqual([1, 1, 0, 0, 1])
})

it('nothing of a cloud is left when it has stopped', async () => {
  const cloud = await start({ Demo: { resources: { ...lambda('Probe', 'probe') } } })
  const { pid } = await cloud.invoke('Probe')
  await cloud.stop()
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  await expect(fetch(cloud.endpoint)).rejects.toThrow()
})
