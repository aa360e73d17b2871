export { createDynamoDbClient } from './client.js'
export { createTable } from './create-table.js'
export { type DynamoDbPersistence, type DynamoDbPersistenceOptions, dynamoDbPersistence } from './persistence.js'
export type { Batching } from './table.js'
