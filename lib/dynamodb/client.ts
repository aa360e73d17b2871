import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'

/** A request to DynamoDB takes milliseconds; one that takes this long is lost, and the SDK asks again. */
const REQUEST_TIMEOUT_MS = 5_000
const CONNECTION_TIMEOUT_MS = 2_000
const MOST_ATTEMPTS = 3

/**
 * Makes the client that the persistence uses when it is given none: three attempts, and a time-out that ends the call
 * (`requestTimeout` alone only logs a warning: a limit of 1,000 ms was seen to end after 4,039 ms).
 */
export const createDynamoDbClient = (config: DynamoDBClientConfig = {}): DynamoDBClient =>
  new DynamoDBClient({
    maxAttempts: MOST_ATTEMPTS,
    requestHandler: {
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
    ...config,
  })
