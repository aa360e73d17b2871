import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SNSClient } from '@aws-sdk/client-sns'
import { SQSClient } from '@aws-sdk/client-sqs'
import { dynamoDbPersistence, snsTransport } from '../../lib/aws.js'

/** Where the emulators of this run are, and what was made on them: handed to each process as JSON. */
export interface Setup {
  readonly dynamoDbEndpoint: string
  readonly batching: 'partiql' | 'single'
  readonly messagingEndpoint: string
  readonly tableName: string
  readonly topicArn: string
  readonly queueUrl: string
}

const local = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }

/** Clients for the emulators. On AWS none of this is needed: the defaults find region and credentials. */
export const connectClients = (setup: Pick<Setup, 'dynamoDbEndpoint' | 'messagingEndpoint'>) => ({
  dynamoDb: new DynamoDBClient({ ...local, endpoint: setup.dynamoDbEndpoint }),
  sns: new SNSClient({ ...local, endpoint: setup.messagingEndpoint, maxAttempts: 1 }),
  // The emulator's queue URLs have a host that does not resolve.
  sqs: new SQSClient({ ...local, endpoint: setup.messagingEndpoint, useQueueUrlAsEndpoint: false }),
})

/** What the buses of this run have in common. */
export const connect = (setup: Setup) => {
  const clients = connectClients(setup)
  return {
    sqs: clients.sqs,
    options: {
      name: 'demo',
      transport: snsTransport({ topicArn: setup.topicArn, client: clients.sns }),
      persistence: dynamoDbPersistence({
        tableName: setup.tableName,
        client: clients.dynamoDb,
        batching: setup.batching,
      }),
    },
  }
}

/** The setup that this process was started with. */
export const readSetup = (): Setup => {
  const text = process.env.POSTDATE_DEMO_SETUP
  if (text === undefined) throw new Error('run `npm start`: it starts the emulators and hands their addresses on')
  return JSON.parse(text) as Setup
}
