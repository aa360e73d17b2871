import type { DynamoDBClient, DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { Logger } from '../../lib/core/observation.js'
import type { DynamoDbPersistenceOptions } from '../../lib/dynamodb/persistence.js'
import { type DynamoDbPersistence, dynamoDbPersistence } from '../../lib/dynamodb/persistence.js'
import type { Item } from '../../lib/dynamodb/table.js'
import { createSubject, type Subject } from '../../lib/testing/contract/subject.js'
import { readAll, type TestDynamoDb } from '../support/dynamodb-table.js'

/** A persistence on an empty table, and what a test needs to look behind it. */
export interface OpenPersistence {
  readonly persistence: DynamoDbPersistence
  readonly subject: Subject
  readonly tableName: string
  /** The persistence's own client, to put faults into. */
  readonly client: DynamoDBClient
  /** What was logged, as text. */
  readonly logged: string[]
  /** Another persistence on the same table, with a client of its own. */
  beside(options?: Partial<DynamoDbPersistenceOptions>): DynamoDbPersistence
  /** All items whose partition key begins so, read past the persistence's client. */
  items(prefix?: string): Promise<Item[]>
}

/** Makes a persistence on a new table of an emulator. Retries don't wait. */
export const openPersistence = async (
  emulator: TestDynamoDb,
  options: Partial<DynamoDbPersistenceOptions> = {},
  config: DynamoDBClientConfig = {},
): Promise<OpenPersistence> => {
  const tableName = await emulator.table()
  const client = emulator.client(config)
  const outside = emulator.client()
  const logged: string[] = []
  const log = (message: string, data?: object) => void logged.push(`${message} ${JSON.stringify(data ?? {})}`)
  const logger: Logger = { debug: log, info: log, warn: log, error: log }
  const fixed = { tableName, logger, wait: async () => {} }
  const persistence = dynamoDbPersistence({ ...fixed, client, ...options })
  return {
    persistence,
    subject: createSubject(persistence),
    tableName,
    client,
    logged,
    beside: (others) => dynamoDbPersistence({ ...fixed, client: emulator.client(), ...options, ...others }),
    items: (prefix) => readAll(outside, tableName, prefix),
  }
}
