import { DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb'
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { expect, it } from 'vitest'
import { allow, arnOf, eventSource, lambda, pollerGrants, queue, ref, table } from '../support/resources.js'
import { shareCloud, until } from '../support/start-cloud.js'

const receiver = (name: string, properties = {}, maxReceiveCount = 2) => ({
  ...queue(`${name}DeadLetters`),
  ...queue(name, {
    VisibilityTimeout: 2,
    RedrivePolicy: { deadLetterTargetArn: arnOf(`${name}DeadLetters`), maxReceiveCount },
  }),
  ...lambda(`${name}Receiver`, 'receiver', [pollerGrants(name), allow(['dynamodb:PutItem'], arnOf('Notes'))], {
    Timeout: 2,
    Environment: { Variables: { NOTES_TABLE: ref('Notes') } },
  }),
  ...eventSource(`${name}Source`, `${name}Receiver`, name, properties),
})

const under = shareCloud({
  ...table('Notes', { TableName: 'notes' }),
  ...receiver('Orders'),
  ...receiver('Flaky', {}, 9),
  ...receiver('Poison'),
  ...receiver('Killed', {}, 9),
  ...receiver('Garbled'),
  ...receiver('Whole', { FunctionResponseTypes: [] }),
  ...receiver('Window', { MaximumBatchingWindowInSeconds: 1, BatchSize: 4, ScalingConfig: { MaximumConcurrency: 2 } }),
  ...receiver('Paused', { Enabled: false }),
})

const settings = () => ({
  endpoint: under.cloud.endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
})

const send = (queueName: string, body: object, attributes?: Record<string, string>) =>
  new SQSClient(settings()).send(
    new SendMessageCommand({
      QueueUrl: under.cloud.queueUrl(queueName),
      MessageBody: JSON.stringify(body),
      MessageAttributes: Object.fromEntries(
        Object.entries(attributes ?? {}).map(([name, value]) => [name, { DataType: 'String', StringValue: value }]),
      ),
    }),
  )

interface Note {
  readonly attempt: number
  readonly batch: number
  readonly attributes: readonly string[]
  readonly pid: number
}

const notesOf = async (name: string): Promise<readonly Note[]> => {
  const { Items: items = [] } = await new DynamoDBClient(settings()).send(
    new QueryCommand({
      TableName: 'notes',
      KeyConditionExpression: 'pk = :name',
      ExpressionAttributeValues: { ':name': { S: name } },
    }),
  )
  return items.map(({ note }) => JSON.parse(note?.S ?? '') as Note)
}

const waitForNotes = (name: string, count: number) =>
  until(async () => {
    const notes = await notesOf(name)
    return notes.length >= count ? notes : undefined
  })

const messagesIn = async (queueName: string): Promise<number> => {
  const { Attributes: attributes } = await new SQSClient(settings()).send(
    new GetQueueAttributesCommand({
      QueueUrl: under.cloud.queueUrl(queueName),
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  )
  return Object.values(attributes ?? {}).reduce((sum, value) => sum + Number(value), 0)
}

const untilEmpty = (queueName: string) => until(async () => ((await messagesIn(queueName)) === 0 ? true : undefined))

it('a message reaches the function with its attributes, and is removed', async () => {
  await send('Orders', { name: 'plain' }, { route: 'orders/place' })
  const [note] = await waitForNotes('plain', 1)
  expect(note).toMatchObject({ attempt: 1, attributes: ['route'] })
  await untilEmpty('Orders')
})

it('only the messages that failed come back', async () => {
  await Promise.all([send('Flaky', { name: 'good' }), send('Flaky', { name: 'flaky', failTimes: 1 })])
  expect((await waitForNotes('flaky', 2)).map(({ attempt }) => attempt)).toEqual([1, 2])
  await untilEmpty('Flaky')
  expect(await notesOf('good')).toHaveLength(1)
})

it('a message that always fails ends in the dead-letter queue', async () => {
  await send('Poison', { name: 'poison', failTimes: 99 })
  await until(async () => ((await messagesIn('PoisonDeadLetters')) === 1 ? true : undefined))
  expect(await notesOf('poison')).toHaveLength(2)
  const depths = await under.cloud.metrics()
  expect(
    depths.some(
      ({ name, dimensions, value }) =>
        name === 'ApproximateNumberOfMessagesVisible' &&
        dimensions.QueueName?.includes('PoisonDeadLetters') &&
        value === 1,
    ),
  ).toBe(true)
})

it('without partial responses, a batch of a function that answers is done, whatever the answer', async () => {
  await send('Whole', { name: 'whole', failTimes: 1 })
  await waitForNotes('whole', 1)
  await untilEmpty('Whole')
  expect(await notesOf('whole')).toHaveLength(1)
})

it('a message in the hands of a killed process comes back after its visibility timeout', async () => {
  await send('Killed', { name: 'killed', hangMs: 1900 })
  const [note] = await waitForNotes('killed', 1)
  expect(under.cloud.kill('KilledReceiver')).toContain(note?.pid)
  const [, second] = await waitForNotes('killed', 2)
  expect(second?.attempt).toBe(2)
  expect(second?.pid).not.toBe(note?.pid)
  await untilEmpty('Killed')
  expect(await messagesIn('KilledDeadLetters')).toBe(0)
  expect(under.cloud.invocations('KilledReceiver').some(({ outcome }) => outcome === 'crashed')).toBe(true)
})

it('a batching window gathers what comes within it', async () => {
  await send('Window', { name: 'window' })
  for (let count = 0; count < 3; count++) await send('Window', { name: 'window' })
  const notes = await waitForNotes('window', 4)
  expect(Math.max(...notes.map(({ batch }) => batch))).toBeGreaterThan(1)
})

it('a response that names no message of the batch fails the whole batch', async () => {
  await send('Garbled', { respond: { batchItemFailures: [{ itemIdentifier: '' }] } })
  await until(async () => ((await messagesIn('GarbledDeadLetters')) === 1 ? true : undefined))
})

it('a source that is not enabled polls nothing', async () => {
  await send('Paused', { name: 'paused' })
  expect(await messagesIn('Paused')).toBe(1)
  expect(under.cloud.invocations('PausedReceiver')).toEqual([])
})
