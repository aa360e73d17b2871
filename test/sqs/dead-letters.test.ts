import { createHash } from 'node:crypto'
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../lib/core/observation.js'
import { handlerFor } from '../../lib/core/receiver.js'
import type { DeadLetter } from '../../lib/core/redelivery/dead-letter.js'
import { toWire } from '../../lib/core/wire.js'
import { createReceiver } from '../../lib/lambda/create-receiver.js'
import { createBus } from '../../lib/memory/create-bus.js'
import { sqsDeadLetters } from '../../lib/sqs/dead-letters.js'
import { readSqsMessage } from '../../lib/sqs/record.js'
import { sqsSource } from '../../lib/sqs/source.js'
import { startTestMessaging, type TestMessaging } from '../support/messaging.js'
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js'

let messaging: TestMessaging
let server: ScriptedServer
beforeAll(async () => {
  messaging = await startTestMessaging()
  server = await startScriptedServer()
})
afterAll(async () => {
  await messaging.stop()
  await server.stop()
})
afterEach(() => vi.unstubAllEnvs())

const envelope = {
  messageId: 'm1',
  kind: 'command',
  name: 'shop/charge',
  body: '{"$name":"shop/charge","$version":1,"note":"ü"}',
  correlationId: 'c1',
  attributes: { priority: 0 },
  stickyAttributes: { tenant: 'acme' },
  headers: { trace: 't1' },
  sentAt: 1_000,
} as const

const letter: DeadLetter = {
  record: { recordId: 'r1', ...toWire(envelope, { attempt: 2, dueAt: 2_000, target: 'billing' }) },
  receiver: 'billing',
  reason: 'rejected: no ü',
  attempt: 2,
  diedAt: 3_000,
}

const createQueue = async (name: string, attributes: Record<string, string> = {}) => {
  const { QueueUrl = '' } = await messaging.sqs.send(
    new CreateQueueCommand({ QueueName: name, Attributes: attributes }),
  )
  return QueueUrl
}

describe('a dead letter on SQS', () => {
  it('arrives with body and attributes as they were, and says why', async () => {
    const queueUrl = await createQueue('as-it-was')
    await sqsDeadLetters({ queueUrl, client: messaging.sqs }).send(letter)
    const [message = {}] = await messaging.drain(queueUrl, 1)
    const { body, attributes } = readSqsMessage(message)
    const { deadLetter = '', ...rest } = attributes
    expect(Object.keys(attributes)).toHaveLength(10)
    expect({ body, attributes: rest }).toEqual({ body: letter.record.body, attributes: letter.record.attributes })
    expect(JSON.parse(deadLetter)).toEqual({ reason: 'rejected: no ü', receiver: 'billing', attempt: 2, diedAt: 3_000 })
  })

  it('to a queue that keeps an order goes in the group of its record, once', async () => {
    const queueUrl = await createQueue('ordered-dead.fifo', { FifoQueue: 'true' })
    const deadLetters = sqsDeadLetters({ queueUrl, client: messaging.sqs })
    for (const recordId of ['r1', 'r1', 'r2'])
      await deadLetters.send({ ...letter, record: { ...letter.record, recordId, groupId: 'a' } })
    const { Messages = [] } = await messaging.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, MessageSystemAttributeNames: ['MessageGroupId'] }),
    )
    expect(Messages[0]?.Attributes?.MessageGroupId).toBe('a')
    const { Attributes } = await messaging.sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
    )
    const { ApproximateNumberOfMessages: shown, ApproximateNumberOfMessagesNotVisible: hidden } = Attributes ?? {}
    expect(Number(shown) + Number(hidden)).toBe(2)
  })

  it('that its queue does not take is an error that says so, and may pass', async () => {
    const deadLetters = sqsDeadLetters({
      queueUrl: `${messaging.endpoint}/000000000000/missing`,
      client: messaging.sqs,
    })
    await expect(deadLetters.send(letter)).rejects.toMatchObject({
      code: 'receiver.dead-letter-failed',
      retryable: true,
      details: { deadLetters: 'sqs:missing', recordId: 'r1' },
    })
  })

  it('that has no room for a reason is an error, and nothing is sent', async () => {
    const queueUrl = await createQueue('too-small')
    const deadLetters = sqsDeadLetters({ queueUrl, client: messaging.sqs, maxMessageBytes: 1_024 })
    const record = { ...letter.record, body: 'x'.repeat(1_000) }
    await expect(deadLetters.send({ ...letter, record })).rejects.toMatchObject({ code: 'receiver.dead-letter-failed' })
    const { Attributes } = await messaging.sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['ApproximateNumberOfMessages'] }),
    )
    expect(Attributes?.ApproximateNumberOfMessages).toBe('0')
  })

  it.each([0, 1_023, Number.NaN, 1_024.5])('refuses a largest message of %d bytes', (maxMessageBytes) => {
    expect(() => sqsDeadLetters({ queueUrl: 'q', maxMessageBytes, client: messaging.sqs })).toThrowError(
      expect.objectContaining({ code: 'options.invalid' }),
    )
  })

  it('carries no lineage of Lambda, so that it may be put back and not be cut off', async () => {
    server.answerWith((response, { body }) => {
      const { MessageBody } = JSON.parse(body) as { MessageBody: string }
      const MD5OfMessageBody = createHash('md5').update(MessageBody).digest('hex')
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' })
      response.end(JSON.stringify({ MessageId: 'm', MD5OfMessageBody }))
    })
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'billing')
    vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=1-5759e988-bd862e3fe1be46a994272793;Lineage=1:abcdef12:15')
    vi.stubEnv('AWS_ENDPOINT_URL_SQS', server.endpoint)
    const queueUrl = 'https://sqs.us-east-1.amazonaws.com/123456789012/dead'
    const plain = new SQSClient({ region: 'us-east-1', endpoint: server.endpoint })
    await plain.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: '{}' }))
    expect(server.requests.at(-1)?.headers).toHaveProperty('x-amzn-trace-id')
    await sqsDeadLetters({ queueUrl }).send(letter)
    expect(JSON.parse(server.requests.at(-1)?.body ?? '').QueueUrl).toBe(queueUrl)
    expect(server.requests.at(-1)?.headers).not.toHaveProperty('x-amzn-trace-id')
  })
})

describe('where the dead letters of a receiver go', () => {
  const nonsense = { messageId: 'r1', body: 'no JSON', messageAttributes: {} }

  it('is told to a function by the constructs', async () => {
    const queueUrl = await createQueue('told')
    vi.stubEnv('AWS_ENDPOINT_URL_SQS', messaging.endpoint)
    const environment = { POSTDATE_DEAD_LETTER_QUEUE_URL: queueUrl }
    const bus = createBus({ name: 'shop', logger: silentLogger })
    const receive = createReceiver(
      bus,
      [
        handlerFor(
          class Charge {
            readonly $name = 'shop/charge'
            readonly $version = 1
          },
          () => {},
        ),
      ],
      { name: 'billing', environment },
    )
    expect(await receive({ Records: [nonsense] })).toEqual({ batchItemFailures: [] })
    const [message = {}] = await messaging.drain(queueUrl, 1)
    expect(message.Body).toBe('no JSON')
    expect(JSON.parse(message.MessageAttributes?.deadLetter?.StringValue ?? '').reason).toBe(
      'unreadable: SyntaxError: the attribute messageId is missing',
    )
  })

  it('is told to a source by its options', async () => {
    const queue = await messaging.addQueue({ receiver: 'sourced' })
    const source = sqsSource({
      queueUrl: queue.queueUrl,
      deadLetterQueueUrl: queue.deadLetterUrl,
      client: messaging.sqs,
      waitTimeSeconds: 1,
    })
    const bus = createBus({
      name: 'shop',
      logger: silentLogger,
      receivers: [{ receiver: { name: 'sourced', handlers: new Map() }, source }],
    })
    await bus.start()
    await messaging.sqs.send(new SendMessageCommand({ QueueUrl: queue.queueUrl, MessageBody: 'no JSON' }))
    const [message = {}] = await messaging.drain(queue.deadLetterUrl, 1)
    await bus.stop()
    expect(message.Body).toBe('no JSON')
  })
})

describe('the group of a record', () => {
  const record = (eventSourceARN: string) => ({
    messageId: 'r',
    body: '{}',
    attributes: { MessageGroupId: 'a' },
    eventSourceARN,
  })

  it('counts on queues that keep an order alone: others have groups for fairness', async () => {
    const { readLambdaRecord } = await import('../../lib/sqs/record.js')
    expect(readLambdaRecord(record('arn:aws:sqs:us-east-1:1:orders.fifo')).groupId).toBe('a')
    expect(readLambdaRecord(record('arn:aws:sqs:us-east-1:1:orders'))).not.toHaveProperty('groupId')
  })

  it('is asked for by a source of such a queue, whose failures hold their group back', async () => {
    const queueUrl = await createQueue('ordered.fifo', {
      FifoQueue: 'true',
      ContentBasedDeduplication: 'true',
      VisibilityTimeout: '1',
    })
    const handled: string[] = []
    const batches: string[][] = []
    const source = sqsSource({ queueUrl, client: messaging.sqs, waitTimeSeconds: 1 })
    for (const [group, text] of [
      ['a', 'a1'],
      ['a', 'a2'],
      ['b', 'b1'],
    ] as const)
      await messaging.sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: text, MessageGroupId: group }))
    const stop = source.start(async (records) => {
      batches.push(records.map(({ body, groupId }) => `${groupId} ${body}`))
      handled.push(...records.map(({ body }) => body))
      return []
    })
    await vi.waitFor(() => expect(handled).toHaveLength(3), { timeout: 10_000, interval: 20 })
    await stop()
    expect(batches.flat().sort()).toEqual(['a a1', 'a a2', 'b b1'])
  })
})
