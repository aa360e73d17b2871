import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startLocalCloud } from '../../lib/local/start-local-cloud.js'
import {
  allow,
  anyResource,
  arnOf,
  eventSource,
  lambda,
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
import { startForTest as start } from './support/start-for-test.js'
import { emptyFolder, writeAssembly } from './support/write-assembly.js'

const refusal = (resources: Resources): Promise<Error> =>
  start({ Demo: { resources } }).then(
    () => new Error('it started'),
    (error: Error) => error,
  )

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
