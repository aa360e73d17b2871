import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { CreateTopicCommand, type SNSClient, SubscribeCommand } from '@aws-sdk/client-sns'
import { CreateQueueCommand, GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { createTable } from '../../lib/aws.js'
import type { Setup } from './connect.js'

/** Makes the table, the topic and the queue of a run. On AWS the CDK constructs make them, with their dead-letter queues. */
export const createTopology = async (
  { dynamoDb, sns, sqs }: { readonly dynamoDb: DynamoDBClient; readonly sns: SNSClient; readonly sqs: SQSClient },
  tableName: string,
): Promise<Pick<Setup, 'tableName' | 'topicArn' | 'queueUrl'>> => {
  await createTable(dynamoDb, tableName)
  const { TopicArn: topicArn = '' } = await sns.send(new CreateTopicCommand({ Name: 'demo' }))
  const { QueueUrl: queueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'reminders' }))
  const asked = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['QueueArn'] })
  const { Attributes = {} } = await sqs.send(asked)
  await sns.send(
    new SubscribeCommand({
      TopicArn: topicArn,
      Protocol: 'sqs',
      Endpoint: Attributes.QueueArn,
      Attributes: {
        RawMessageDelivery: 'true',
        FilterPolicy: JSON.stringify({ route: ['demo/remind', 'demo/trial-ended', 'demo/end-trial', '@reminders'] }),
      },
    }),
  )
  return { tableName, topicArn, queueUrl }
}
