import {
  CreateTableCommand,
  type DynamoDBClient,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { tableSchema } from '../wiring/table.js'

const READY_WITHIN_SECONDS = 60

/**
 * Creates the table, for emulators, tests and local runs; in an account the constructs do it.
 * @example
 * await createTable(new DynamoDBClient({ endpoint: 'http://127.0.0.1:8000' }), 'postdate')
 */
export const createTable = async (client: DynamoDBClient, tableName: string): Promise<void> => {
  const { partitionKey, sortKey, timeToLive } = tableSchema
  await client.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: partitionKey, AttributeType: 'S' },
        { AttributeName: sortKey, AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: partitionKey, KeyType: 'HASH' },
        { AttributeName: sortKey, KeyType: 'RANGE' },
      ],
    }),
  )
  await waitUntilTableExists(
    { client, maxWaitTime: READY_WITHIN_SECONDS, minDelay: 0.02, maxDelay: 2 },
    { TableName: tableName },
  )
  try {
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName: tableName,
        TimeToLiveSpecification: { AttributeName: timeToLive, Enabled: true },
      }),
    )
  } catch (error) {
    // An emulator without TTL keeps bodies for ever, which harms nothing.
    if (!(error instanceof Error && error.name === 'UnknownOperationException')) throw error
  }
}
