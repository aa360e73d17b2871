import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns'
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { ROUTE_ATTRIBUTE, routeOf } from '../../lib/core/wire.js'
import { startMessaging } from '../../lib/local/emulators/messaging.js'

/** A queue of a receiver, subscribed to the topic, and its own dead-letter queue. */
export interface TestQueue {
  readonly queueUrl: string
  readonly queueArn: string
  readonly deadLetterUrl: string
}

/** How a test's queue is subscribed. */
export interface QueueOptions {
  /** The receiver's name: it gets redeliveries of its own. */
  readonly receiver: string
  /** The message names it wants. @default every message */
  readonly names?: readonly string[]
  /** @default true */
  readonly raw?: boolean
  /** @default 30 */
  readonly visibilitySeconds?: number
  /** How often a record is handed out before it goes to the dead-letter queue. @default 5 */
  readonly maxReceiveCount?: number
}

/** A topic with clients, on the emulator of SNS and SQS. */
export interface TestMessaging {
  readonly endpoint: string
  readonly topicArn: string
  readonly sns: SNSClient
  readonly sqs: SQSClient
  /** Makes a queue with its dead-letter queue and subscribes it as the constructs do: raw, filtered on `route`. */
  addQueue(options: QueueOptions): Promise<TestQueue>
  /** Takes messages from a queue and removes them, until it has so many or `withinMs` (default 5,000) has passed. */
  drain(queueUrl: string, count: number, withinMs?: number): Promise<Message[]>
  stop(): Promise<void>
}

const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' }

const drainQueue = async (sqs: SQSClient, queueUrl: string, count: number, withinMs: number): Promise<Message[]> => {
  const taken: Message[] = []
  const giveUpAt = Date.now() + withinMs
  while (taken.length < count && Date.now() < giveUpAt) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 1,
        MessageAttributeNames: ['All'],
      }),
    )
    if (Messages.length === 0) continue
    taken.push(...Messages)
    await sqs.send(
      new DeleteMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      }),
    )
  }
  return taken
}

/**
 * Starts the emulator with one topic; queues are added by name.
 * @example
 * const messaging = await startTestMessaging()
 * const { queueUrl } = await messaging.addQueue({ receiver: 'billing', names: ['orders/place'] })
 */
export const startTestMessaging = async (topicName = 'orders'): Promise<TestMessaging> => {
  const emulator = await startMessaging()
  const config = { endpoint: emulator.endpoint, region: 'us-east-1', credentials: CREDENTIALS }
  const sns = new SNSClient(config)
  const sqs = new SQSClient({ ...config, useQueueUrlAsEndpoint: false })
  const { TopicArn: topicArn = '' } = await sns.send(new CreateTopicCommand({ Name: topicName }))

  const createQueue = async (name: string, attributes: Record<string, string> = {}) => {
    const { QueueUrl: queueUrl = '' } = await sqs.send(
      new CreateQueueCommand({ QueueName: name, Attributes: attributes }),
    )
    const { Attributes = {} } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['QueueArn'] }),
    )
    return { queueUrl, queueArn: Attributes.QueueArn ?? '' }
  }

  return {
    endpoint: emulator.endpoint,
    topicArn,
    sns,
    sqs,
    async addQueue({ receiver, names, raw = true, visibilitySeconds = 30, maxReceiveCount = 5 }) {
      const deadLetter = await createQueue(`${receiver}-dead`)
      const queue = await createQueue(receiver, {
        VisibilityTimeout: String(visibilitySeconds),
        RedrivePolicy: JSON.stringify({ deadLetterTargetArn: deadLetter.queueArn, maxReceiveCount }),
      })
      const filter = names && { [ROUTE_ATTRIBUTE]: [...names, routeOf('', receiver)] }
      await sns.send(
        new SubscribeCommand({
          TopicArn: topicArn,
          Protocol: 'sqs',
          Endpoint: queue.queueArn,
          Attributes: {
            ...(raw && { RawMessageDelivery: 'true' }),
            ...(filter && { FilterPolicy: JSON.stringify(filter) }),
          },
        }),
      )
      return { ...queue, deadLetterUrl: deadLetter.queueUrl }
    },
    drain: (queueUrl, count, withinMs = 5000) => drainQueue(sqs, queueUrl, count, withinMs),
    async stop() {
      sns.destroy()
      sqs.destroy()
      await emulator.stop()
    },
  }
}
