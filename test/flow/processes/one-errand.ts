import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SNSClient } from '@aws-sdk/client-sns'
import { dynamoDbPersistence, snsTransport } from '../../../lib/aws.js'
import { createBus, createOperator, defineCommand } from '../../../lib/index.js'
import type { ProcessSetup } from './setup.js'

/** A process that does one thing, tells its result as JSON, and ends: `send <ms>`, `recall <handle>`, `pause`, `resume`. */

const setup = JSON.parse(process.env.POSTDATE_TEST_SETUP ?? '') as ProcessSetup
const local = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
const Remind = defineCommand('flow/remind', 1)<{ number: number }>()

const persistence = dynamoDbPersistence({
  tableName: setup.tableName,
  batching: setup.batching,
  client: new DynamoDBClient({ ...local, endpoint: setup.dynamoDbEndpoint }),
})
const transport = snsTransport({
  topicArn: setup.topicArn,
  client: new SNSClient({ ...local, endpoint: setup.messagingEndpoint, maxAttempts: 1 }),
})
const bus = createBus({ name: 'flow', persistence, transport, sendOnly: true })
const operator = createOperator({ name: 'flow', persistence })

const [, , errand, argument = ''] = process.argv
const run: Readonly<Record<string, () => Promise<unknown>>> = {
  send: () => bus.send(Remind({ number: 1 }), { deliverAfter: Number(argument) }),
  recall: () => bus.recall(argument),
  pause: () => operator.pause(),
  resume: () => operator.resume(),
}
process.stdout.write(`${JSON.stringify(await run[errand ?? '']?.())}\n`)
process.exit(0)
