import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SNSClient } from '@aws-sdk/client-sns'
import { dynamoDbPersistence, snsTransport } from '../../../lib/aws.js'
import { createBus } from '../../../lib/index.js'
import type { ProcessSetup } from './setup.js'

/** A started bus in a process of its own: dispatches until SIGTERM, then stops in order. What it tells goes to stdout. */

const setup = JSON.parse(process.env.POSTDATE_TEST_SETUP ?? '') as ProcessSetup
const local = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }

const tell = (text: string) => process.stdout.write(`${text}\n`)

const bus = createBus({
  name: 'flow',
  persistence: dynamoDbPersistence({
    tableName: setup.tableName,
    batching: setup.batching,
    client: new DynamoDBClient({ ...local, endpoint: setup.dynamoDbEndpoint }),
  }),
  transport: snsTransport({
    topicArn: setup.topicArn,
    client: new SNSClient({ ...local, endpoint: setup.messagingEndpoint, maxAttempts: 1 }),
  }),
  sendOnly: setup.sendOnly,
  onEvent: (event) => {
    if (event.type === 'dispatched') tell(`dispatched ${event.messageId}`)
  },
})

process.once('SIGTERM', () => {
  void bus.stop().then(() => {
    tell('stopped')
    process.exit(0)
  })
})
await bus.start()
tell('ready')
// A send-only bus has nothing that keeps the process up.
setInterval(() => {}, 60_000)
