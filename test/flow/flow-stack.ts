import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { createTable, dynamoDbPersistence, snsTransport } from '../../lib/aws.js'
import { type Bus, createBus, defineCommand } from '../../lib/index.js'
import { type DynamoDbEmulator, startDynamoDb } from '../../lib/local/emulators/dynamodb.js'
import { type HoldingProxy, startHoldingProxy } from '../support/holding-proxy.js'
import { startTestMessaging, type TestMessaging, type TestQueue } from '../support/messaging.js'
import type { ProcessSetup } from './processes/setup.js'

/** The message that flow tests send. */
export const Remind = defineCommand('flow/remind', 1)<{ number: number }>()

/** A whole path on emulators, with proxies that can hold answers, and a bus that only sends. */
export interface FlowStack {
  readonly messaging: TestMessaging
  readonly queue: TestQueue
  readonly dynamoDbProxy: HoldingProxy
  readonly messagingProxy: HoldingProxy
  readonly sender: Bus
  readonly setup: ProcessSetup
  /** The lease registers of all rows that still wait. */
  leases(): Promise<readonly string[]>
  /** The ids that the receiver's queue holds, each as often as it was delivered. */
  received(count: number, withinMs?: number): Promise<readonly string[]>
  stop(): Promise<void>
}

const local = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
const TABLE = 'flow'

const readLeases = async (client: DynamoDBClient): Promise<readonly string[]> => {
  const leases: string[] = []
  let from: Record<string, import('@aws-sdk/client-dynamodb').AttributeValue> | undefined
  do {
    const page = await client.send(new ScanCommand({ TableName: TABLE, ExclusiveStartKey: from, ConsistentRead: true }))
    for (const { pk, lease } of page.Items ?? []) if (pk?.S?.startsWith('due#')) leases.push(lease?.S ?? 'none')
    from = page.LastEvaluatedKey
  } while (from !== undefined)
  return leases
}

/** Starts the stack; every test has its own. */
export const startFlow = async (): Promise<FlowStack> => {
  const dynamoDb: DynamoDbEmulator = await startDynamoDb()
  const messaging = await startTestMessaging('flow')
  const queue = await messaging.addQueue({ receiver: 'reminders', names: ['flow/remind'] })
  const [dynamoDbProxy, messagingProxy] = await Promise.all([
    startHoldingProxy(dynamoDb.endpoint),
    startHoldingProxy(messaging.endpoint),
  ])
  const client = new DynamoDBClient({ ...local, endpoint: dynamoDb.endpoint })
  await createTable(client, TABLE)
  const { batching } = dynamoDb
  const sender = createBus({
    name: 'flow',
    persistence: dynamoDbPersistence({ tableName: TABLE, client, batching }),
    transport: snsTransport({ topicArn: messaging.topicArn, client: messaging.sns }),
    sendOnly: true,
  })
  return {
    messaging,
    queue,
    dynamoDbProxy,
    messagingProxy,
    sender,
    setup: {
      dynamoDbEndpoint: dynamoDbProxy.endpoint,
      messagingEndpoint: messagingProxy.endpoint,
      batching,
      tableName: TABLE,
      topicArn: messaging.topicArn,
      sendOnly: false,
    },
    leases: () => readLeases(client),
    received: async (count, withinMs = 60_000) => {
      const messages = await messaging.drain(queue.queueUrl, count, withinMs)
      return messages.map(({ MessageAttributes }) => MessageAttributes?.messageId?.StringValue ?? 'no id')
    },
    stop: async () => {
      await Promise.all([dynamoDbProxy.stop(), messagingProxy.stop()])
      client.destroy()
      await Promise.all([messaging.stop(), dynamoDb.stop()])
    },
  }
}

/** Schedules so many messages for one instant; answers their ids. */
export const scheduleMany = async (bus: Bus, count: number, deliverAt: Date): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let from = 0; from < count; from += 100) {
    const numbers = Array.from({ length: Math.min(100, count - from) }, (_, index) => from + index)
    const receipts = await Promise.all(numbers.map((number) => bus.send(Remind({ number }), { deliverAt })))
    ids.push(...receipts.map(({ messageId }) => messageId))
  }
  return ids
}
