import { rmSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { LocalCloudOptions } from '../../lib/local/local-cloud.js'
import { startLocalCloud } from '../../lib/local/start-local-cloud.js'
import { messagesIn } from './support/clients.js'
import {
  allow,
  anyResource,
  arnOf,
  eventSource,
  lambda,
  letTopicSend,
  pollerGrants,
  queue,
  type Resources,
  ref,
  role,
  schedule,
  subscription,
  table,
  topic,
} from './support/resources.js'
import { emptyFolder, removeAfterTest, type StackInput, writeAssembly } from './support/write-assembly.js'

const start = async (
  stacks: Readonly<Record<string, StackInput>>,
  lines: string[] = [],
  options: LocalCloudOptions = {},
) => {
  const cloud = await startLocalCloud({
    assembly: removeAfterTest(writeAssembly(stacks)),
    onLine: (line) => lines.push(line),
    ...options,
  })
  let stopped = false
  const stop = () => {
    stopped = true
    return cloud.stop()
  }
  onTestFinished(async () => {
    if (!stopped) await stop()
  })
  return { ...cloud, stop }
}

const refusal = (resources: Resources): Promise<Error> =>
  start({ Demo: { resources } }).then(
    () => new Error('it started'),
    (error: Error) => error,
  )

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

describe('a folder that is no assembly', () => {
  it('is refused', async () => {
    await expect(startLocalCloud({ assembly: emptyFolder() })).rejects.toMatchObject({ code: 'assembly.unreadable' })
    const folder = writeAssembly({})
    await expect(startLocalCloud({ assembly: folder })).rejects.toThrow(/holds no stack/)
    rmSync(folder, { recursive: true })
  })
})

describe('what the local cloud does not know is refused', () => {
  it.each([
    [
      'a resource that must act',
      anyResource('Bucket', 'AWS::S3::Bucket'),
      /Demo\/Bucket\/Resource is an AWS::S3::Bucket/,
    ],
    [
      'a property that would be left out',
      table('Rows', { GlobalSecondaryIndexes: [] }),
      /Demo\/Rows .* has the property GlobalSecondaryIndexes/,
    ],
    ['a reference to nothing', queue('Orders', { QueueName: ref('Nothing') }), /refers to Nothing/],
    ['a function of the template', queue('Orders', { QueueName: { 'Fn::Base64': 'x' } }), /can't resolve Fn::Base64/],
    ['an attribute', queue('Orders', { QueueName: { 'Fn::GetAtt': ['Orders2', 'Color'] } }), /refers to Orders2/],
    [
      'a managed policy of AWS',
      anyResource('Admin', 'AWS::IAM::Role', {
        AssumeRolePolicyDocument: {},
        ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess'],
      }),
      /AdministratorAccess, whose content/,
    ],
    ['a runtime', lambda('Python', 'probe', [], { Runtime: 'python3.13' }), /python3.13; only nodejs/],
    ['inline code', lambda('Inline', 'probe', [], { Code: { ZipFile: 'x' } }), /no folder among the assets/],
    [
      'a cron schedule',
      {
        ...lambda('Probe', 'probe'),
        ...role('Ticker', 'scheduler.amazonaws.com', []),
        ...schedule('Tick', 'Probe', 'Ticker', { ScheduleExpression: 'cron(0 12 * * ? *)' }),
      },
      /cron\(0 12/,
    ],
  ] as const)('%s', async (_, resources, message) => {
    const error = await refusal(resources)
    expect(error.name).toBe('LocalCloudError')
    expect(error.message).toMatch(message)
  })
})

const receiving = (
  queueProperties: object,
  functionProperties: object,
  sourceProperties: object,
  grants = [pollerGrants('Orders')],
) => ({
  ...queue('Orders', { ...queueProperties }),
  ...lambda('Probe', 'probe', grants, { ...functionProperties }),
  ...eventSource('Source', 'Probe', 'Orders', { ...sourceProperties }),
})

const subscribed = (properties: object) => ({
  ...topic('Messages'),
  ...queue('Orders'),
  ...subscription('ToOrders', 'Messages', 'Orders', { ...properties }),
})

const names = (count: number) => Array.from({ length: count }, (_, place) => `name${place}`)

describe('what AWS would refuse is refused', () => {
  it.each([
    [
      'a queue that hides messages for less than its function may run',
      receiving({ VisibilityTimeout: 5 }, { Timeout: 6 }, {}),
      /visibility timeout of 5 s is less than the function's timeout of 6 s/,
    ],
    ['a poller without its grants', receiving({}, {}, {}, []), /does not let Lambda poll.*sqs:ReceiveMessage/],
    ['a batch above 10 without a window', receiving({}, {}, { BatchSize: 11 }), /above 10 a batching window/],
    ['a concurrency of 1', receiving({}, {}, { ScalingConfig: { MaximumConcurrency: 1 } }), /outside 2 to 1000/],
    ['a timeout above 15 minutes', receiving({}, { Timeout: 901 }, {}), /Timeout is 901/],
    ['too little memory', receiving({}, { MemorySize: 64 }, {}), /MemorySize is 64/],
    [
      'an environment above 4 KB',
      receiving({}, { Environment: { Variables: { A: 'x'.repeat(4096) } } }, {}),
      /environment has 4097 bytes/,
    ],
    ['a delay above 15 minutes', queue('Orders', { DelaySeconds: 901 }), /DelaySeconds/],
    [
      'a dead-letter queue that does not exist',
      queue('Orders', { RedrivePolicy: { deadLetterTargetArn: 'arn:aws:sqs:us-east-1:0:none', maxReceiveCount: 3 } }),
      /dead-letter queue .*none does not exist/,
    ],
    [
      'a filter of 151 values',
      subscribed({ FilterPolicy: { route: names(151) } }),
      /151 combinations of values, above 150/,
    ],
    [
      'a filter whose values multiply to more than 150',
      subscribed({ FilterPolicy: { route: names(80), kind: ['command', 'event'] } }),
      /160 combinations/,
    ],
    [
      'a role that Lambda may not take',
      { ...lambda('Probe', 'probe'), ...role('ProbeRole', 'scheduler.amazonaws.com', []) },
      /lambda.amazonaws.com can't take the role/,
    ],
    [
      'a role that the Scheduler may not take',
      { ...lambda('Probe', 'probe'), ...schedule('Tick', 'Probe', 'ProbeRole') },
      /scheduler.amazonaws.com can't take the role/,
    ],
    [
      'a dead-letter queue that the function may not fill',
      { ...queue('Lost'), ...lambda('Probe', 'probe', [], { DeadLetterConfig: { TargetArn: arnOf('Lost') } }) },
      /does not let it fill its dead-letter queue/,
    ],
    [
      'a policy that is malformed',
      {
        ...lambda('Probe', 'probe', [allow(['sqs:SendMessage'], 7)]),
        ...queue('Orders'),
        ...eventSource('Source', 'Probe', 'Orders'),
      },
      /IAM can't decide/,
    ],
  ])('%s', async (_, resources, message) => {
    const error = await refusal(resources as Resources)
    expect(error.message).toMatch(message)
    expect(error).toMatchObject({ code: 'resource.invalid' })
  })

  it('a filter of 150 values is taken', async () => {
    await expect(
      start({ Demo: { resources: subscribed({ FilterPolicy: { route: names(150) } }) } }),
    ).resolves.toBeDefined()
  })
})
