import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { dynamoDbPersistence } from '../../lib/aws.js'
import { createBus, type RecallResult } from '../../lib/index.js'
import type { LocalCloud } from '../../lib/local.js'

/** Takes messages back by their handles, from this process: whoever may write the table can. On AWS no client has to be given. */
export const connectRecall = (cloud: LocalCloud) => {
  const client = new DynamoDBClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    endpoint: cloud.endpoint,
  })
  const { TableName: tableName = '' } = cloud.outputs.PostdateExample ?? {}
  const bus = createBus({
    name: 'orders',
    sendOnly: true,
    persistence: dynamoDbPersistence({ tableName, client }),
  })
  return {
    recall: (recallHandle: string): Promise<RecallResult> => bus.recall(recallHandle),
    close: async (): Promise<void> => {
      await bus.stop()
      client.destroy()
    },
  }
}
