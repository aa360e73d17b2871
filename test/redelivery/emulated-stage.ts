import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SNSClient } from '@aws-sdk/client-sns'
import { SQSClient } from '@aws-sdk/client-sqs'
import { createTable, dynamoDbPersistence, snsTransport, sqsSource } from '../../lib/aws.js'
import { createDispatcher } from '../../lib/core/dispatch/dispatcher.js'
import {
  type Bus,
  type BusEvent,
  type CreateBusOptions,
  createBus,
  type DelayingPersistence,
  type IncomingRecord,
  silentLogger,
  systemClock,
} from '../../lib/index.js'
import { type DynamoDbEmulator, startDynamoDb } from '../../lib/local/emulators/dynamodb.js'
import { readSqsMessage } from '../../lib/sqs/record.js'
import { readAll } from '../support/dynamodb-table.js'
import { type HoldingProxy, startHoldingProxy } from '../support/holding-proxy.js'
import { startTestMessaging, type TestMessaging, type TestQueue } from '../support/messaging.js'

const local = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
const TABLE = 'redelivery'

/** Emulators of DynamoDB, SNS and SQS, with proxies that see every request of what is tested. */
export interface EmulatedStage {
  readonly messaging: TestMessaging
  readonly dynamoDbProxy: HoldingProxy
  readonly messagingProxy: HoldingProxy
  readonly persistence: DelayingPersistence & { readonly durable: boolean }
  /** The SQS client of what is tested. */
  readonly sqs: SQSClient
  readonly events: BusEvent[]
  /** A bus on the emulators. */
  makeBus(options?: Partial<CreateBusOptions>): Bus
  /** A source of a queue, that sends its dead letters. */
  sourceOf(queue: TestQueue): ReturnType<typeof sqsSource>
  /** Publishes all that is due, then leaves. */
  dispatch(): Promise<void>
  /** What a queue holds now, removed from it, as a receiver gets it. */
  take(queueUrl: string, count: number, withinMs?: number): Promise<readonly IncomingRecord[]>
  /** The rows that wait, by their ids, with their due instants. */
  rows(): Promise<readonly { readonly rowId: string; readonly dueAt: number; readonly isThick: boolean }[]>
  stop(): Promise<void>
}

/** Starts the stage; tests of one file share it, and have receivers of their own. */
export const startEmulatedStage = async (): Promise<EmulatedStage> => {
  const dynamoDb: DynamoDbEmulator = await startDynamoDb()
  const messaging = await startTestMessaging('redelivery')
  const [dynamoDbProxy, messagingProxy] = await Promise.all([
    startHoldingProxy(dynamoDb.endpoint),
    startHoldingProxy(messaging.endpoint),
  ])
  const owner = new DynamoDBClient({ ...local, endpoint: dynamoDb.endpoint })
  await createTable(owner, TABLE)
  const client = new DynamoDBClient({ ...local, endpoint: dynamoDbProxy.endpoint })
  const sns = new SNSClient({ ...local, endpoint: messagingProxy.endpoint, maxAttempts: 1 })
  const sqs = new SQSClient({ ...local, endpoint: messagingProxy.endpoint, useQueueUrlAsEndpoint: false })
  const persistence = dynamoDbPersistence({ tableName: TABLE, client, batching: dynamoDb.batching })
  const transport = snsTransport({ topicArn: messaging.topicArn, client: sns })
  const events: BusEvent[] = []
  return {
    messaging,
    dynamoDbProxy,
    messagingProxy,
    persistence,
    sqs,
    events,
    makeBus: (options = {}) =>
      createBus({
        name: 'shop',
        transport,
        persistence,
        logger: silentLogger,
        onEvent: (event) => void events.push(event),
        ...options,
      }),
    sourceOf: ({ queueUrl, deadLetterUrl }) =>
      sqsSource({ queueUrl, deadLetterQueueUrl: deadLetterUrl, client: sqs, waitTimeSeconds: 1 }),
    dispatch: async () => {
      const dispatcher = createDispatcher({ persistence, transport, clock: systemClock, observe: () => {} })
      await dispatcher.run({ signal: new AbortController().signal, leaveWhenIdleMs: 0 })
    },
    take: async (queueUrl, count, withinMs) => (await messaging.drain(queueUrl, count, withinMs)).map(readSqsMessage),
    rows: async () =>
      (await readAll(owner, TABLE, 'due#')).map(({ sk, bodyRef }) => ({
        rowId: sk?.S?.slice(16) ?? '',
        dueAt: Number(sk?.S?.slice(0, 15)),
        isThick: bodyRef !== undefined,
      })),
    stop: async () => {
      await Promise.all([dynamoDbProxy.stop(), messagingProxy.stop()])
      for (const one of [owner, client, sns, sqs]) one.destroy()
      await Promise.all([messaging.stop(), dynamoDb.stop()])
    },
  }
}
