import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { App, CfnOutput, Duration, Stack } from 'aws-cdk-lib'
import { Alarm } from 'aws-cdk-lib/aws-cloudwatch'
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb'
import { Key } from 'aws-cdk-lib/aws-kms'
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda'
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler'
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets'
import { SubscriptionFilter, Topic } from 'aws-cdk-lib/aws-sns'
import { SqsSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LocalCloud } from '../../lib/local/local-cloud.js'
import { startLocalCloud } from '../../lib/local/start-local-cloud.js'
import { until } from './support/start-cloud.js'
import { fixtures } from './support/write-assembly.js'

/** An app as users write it: grants and policies are the CDK's own. */
const synthesize = (outdir: string): void => {
  const app = new App({ outdir, analyticsReporting: false })
  const stack = new Stack(app, 'Shop')
  const key = new Key(stack, 'Key')
  const notes = new Table(stack, 'Notes', {
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    sortKey: { name: 'sk', type: AttributeType.STRING },
    billingMode: BillingMode.PAY_PER_REQUEST,
    encryptionKey: key,
    timeToLiveAttribute: 'expiresAt',
  })
  const topic = new Topic(stack, 'Messages', { enforceSSL: true, masterKey: key })
  const deadLetters = new Queue(stack, 'DeadLetters', { enforceSSL: true, encryptionMasterKey: key })
  const orders = new Queue(stack, 'Orders', {
    enforceSSL: true,
    encryptionMasterKey: key,
    visibilityTimeout: Duration.seconds(6),
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: 5 },
  })
  topic.addSubscription(
    new SqsSubscription(orders, {
      rawMessageDelivery: true,
      deadLetterQueue: deadLetters,
      filterPolicy: { route: SubscriptionFilter.stringFilter({ allowlist: ['orders/place'] }) },
    }),
  )
  const receiver = new LambdaFunction(stack, 'Receiver', {
    runtime: Runtime.NODEJS_22_X,
    handler: 'index.handler',
    code: Code.fromAsset(join(fixtures, 'receiver')),
    timeout: Duration.seconds(6),
    environment: { NOTES_TABLE: notes.tableName },
  })
  receiver.addEventSource(new SqsEventSource(orders, { reportBatchItemFailures: true, maxConcurrency: 2 }))
  notes.grantWriteData(receiver)
  const caller = new LambdaFunction(stack, 'Caller', {
    runtime: Runtime.NODEJS_22_X,
    handler: 'index.handler',
    code: Code.fromAsset(join(fixtures, 'caller')),
    timeout: Duration.seconds(20),
    retryAttempts: 0,
    onFailure: new SqsDestination(deadLetters),
  })
  topic.grantPublish(caller)
  new Schedule(stack, 'Tick', {
    schedule: ScheduleExpression.rate(Duration.minutes(1)),
    target: new LambdaInvoke(caller, { deadLetterQueue: deadLetters, retryAttempts: 0 }),
  })
  new Alarm(stack, 'Dead', {
    metric: deadLetters.metricApproximateNumberOfMessagesVisible(),
    threshold: 1,
    evaluationPeriods: 1,
  })
  new CfnOutput(stack, 'Topic', { value: topic.topicArn })
  const other = new Stack(app, 'Office')
  const reader = new LambdaFunction(other, 'Reader', {
    runtime: Runtime.NODEJS_22_X,
    handler: 'index.handler',
    code: Code.fromAsset(join(fixtures, 'caller')),
    timeout: Duration.seconds(20),
  })
  notes.grantReadData(reader)
  new CfnOutput(other, 'Notes', { value: notes.tableName })
  app.synth({ validateOnSynthesis: false })
}

// Inside the project, since the handlers of the fixtures are not bundled and import its packages.
const cache = join(fixtures, '../../../node_modules/.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'shop-'))
const lines: string[] = []
let cloud: LocalCloud

beforeAll(async () => {
  process.env.CDK_VALIDATION = 'false'
  synthesize(folder)
  cloud = await startLocalCloud({ assembly: folder, onLine: (line) => lines.push(line) })
}, 60_000)

afterAll(async () => {
  await cloud.stop()
  rmSync(folder, { recursive: true })
})

it('an unchanged app of the CDK runs: published in one function, received in another, read in a second stack', async () => {
  const { payload } = await cloud.invoke('Shop/Caller', {
    calls: [
      [
        'sns',
        'Publish',
        {
          TopicArn: cloud.outputs.Shop?.Topic,
          Message: JSON.stringify({ name: 'first' }),
          MessageAttributes: { route: { DataType: 'String', StringValue: 'orders/place' } },
        },
      ],
    ],
  })
  expect(payload).toEqual([{ MessageId: expect.any(String) }])
  const query = {
    TableName: cloud.outputs.Office?.Notes,
    KeyConditionExpression: 'pk = :name',
    ExpressionAttributeValues: { ':name': { S: 'first' } },
  }
  const count = await until(async () => {
    const read = await cloud.invoke('Office/Reader', { calls: [['dynamodb', 'Query', query]] })
    const [answer] = read.payload as readonly { Count?: number }[]
    return answer?.Count === 1 ? answer.Count : undefined
  })
  expect(count).toBe(1)
})

it('functions are named by their construct path', () => {
  expect(cloud.invocations('Shop/Receiver').map(({ path }) => path)).toEqual(['Shop/Receiver/Resource'])
  expect(lines.some((line) => line.startsWith('Shop/Receiver ok'))).toBe(true)
})

it('a function that the schedule ticked and that failed leaves its record in the dead-letter queue', async () => {
  const ticked = await until(() => cloud.invocations('Caller').find(({ trigger }) => trigger === 'schedule'))
  expect(ticked.outcome).toBe('error')
  await until(async () => {
    const depth = (await cloud.metrics()).find(
      ({ name, dimensions }) =>
        name === 'ApproximateNumberOfMessagesVisible' && dimensions.QueueName?.includes('DeadLetters'),
    )
    return depth?.value === 1 ? true : undefined
  })
})
