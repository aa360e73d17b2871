import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Logger } from '../core/observation.js'

/** An item as the SDK gives and takes it. */
export type Item = Record<string, AttributeValue>

/** How rows are written: 25 to a request in PartiQL, or one by one where a store knows no PartiQL. */
export type Batching = 'partiql' | 'single'

/** The table, and what the commands need to work on it. */
export interface Table {
  readonly client: DynamoDBClient
  readonly tableName: string
  /** The persistence's name, for errors. */
  readonly name: string
  readonly batching: Batching
  /** A new token of a lease register. */
  readonly newToken: () => string
  /** Waits so many milliseconds before a throttled write is tried again. */
  readonly wait: (ms: number) => Promise<void>
  /** Told of what could not be done now and is left to a later pass. */
  readonly logger: Logger
}
