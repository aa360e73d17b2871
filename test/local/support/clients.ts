import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SNSClient } from '@aws-sdk/client-sns'
import { type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { LocalCloud } from '../../../lib/local/local-cloud.js'

const settings = (cloud: LocalCloud) => ({
  endpoint: cloud.endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  maxAttempts: 1,
})

/** Clients of whoever runs the cloud. */
export const clientsOf = (cloud: LocalCloud) => ({
  dynamodb: new DynamoDBClient(settings(cloud)),
  sns: new SNSClient(settings(cloud)),
  sqs: new SQSClient(settings(cloud)),
})

/** What waits in a queue, up to ten messages. */
export const messagesIn = async (cloud: LocalCloud, queue: string, waitSeconds = 0): Promise<readonly Message[]> => {
  const { Messages: messages = [] } = await clientsOf(cloud).sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: cloud.queueUrl(queue),
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: waitSeconds,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    }),
  )
  return messages
}

/** Attributes of text. */
export const textAttributes = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { DataType: 'String', StringValue: value }]))
