import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { CreateTopicCommand, SNSClient } from '@aws-sdk/client-sns'
import { createTable, dynamoDbPersistence, snsTransport } from '../lib/aws.js'
import { createDispatcher, type Dispatcher } from '../lib/core/dispatch/dispatcher.js'
import { type BusEvent, systemClock } from '../lib/index.js'
import { startDynamoDb } from '../lib/local/emulators/dynamodb.js'
import { type Meter, meterClients } from './meter.js'

/** A dispatcher on emulators that run in processes of their own, and a meter on its clients. */
export interface BenchStack {
  readonly emulators: string
  readonly tableName: string
  readonly dynamoDb: DynamoDBClient
  readonly persistence: ReturnType<typeof dynamoDbPersistence>
  readonly dispatcher: Dispatcher
  readonly meter: Meter
  /** Whom to tell of the dispatcher's events, for as long as a measurement lasts. */
  onEvent: (event: BusEvent) => void
  stop(): Promise<void>
}

const local = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }

const startMessagingProcess = async () => {
  const path = fileURLToPath(new URL('messaging-process.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', path], { stdio: ['ignore', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill('SIGKILL'))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { endpoint: line.toString('utf8').trim(), stop: () => child.kill('SIGKILL') }
}

/** Starts emulators, and a dispatcher with its own defaults. */
export const startStack = async (): Promise<BenchStack> => {
  const [emulator, messaging] = await Promise.all([startDynamoDb(), startMessagingProcess()])
  const dynamoDb = new DynamoDBClient({ ...local, endpoint: emulator.endpoint })
  const sns = new SNSClient({ ...local, endpoint: messaging.endpoint, maxAttempts: 1 })
  const tableName = 'bench'
  await createTable(dynamoDb, tableName)
  const { TopicArn: topicArn = '' } = await sns.send(new CreateTopicCommand({ Name: 'bench' }))
  const persistence = dynamoDbPersistence({ tableName, client: dynamoDb, batching: emulator.batching })
  const stack: { onEvent: (event: BusEvent) => void } = { onEvent: () => {} }
  const dispatcher = createDispatcher({
    persistence,
    transport: snsTransport({ topicArn, client: sns }),
    clock: systemClock,
    observe: (event) => stack.onEvent(event),
  })
  const meter = meterClients(dynamoDb, sns)
  return Object.assign(stack, {
    emulators: `${emulator.kind} and fauxqs`,
    tableName,
    dynamoDb,
    persistence,
    dispatcher,
    meter,
    stop: async () => {
      dynamoDb.destroy()
      sns.destroy()
      messaging.stop()
      await emulator.stop()
    },
  })
}
