import { SQSClient } from '@aws-sdk/client-sqs'
import { assembleBus, type Bus } from '../core/bus.js'
import { createDynamoDbClient } from '../dynamodb/client.js'
import { dynamoDbPersistence } from '../dynamodb/persistence.js'
import { createSnsClient } from '../sns/client.js'
import { snsTransport } from '../sns/transport.js'
import { sqsWakeHint } from '../sqs/hint.js'
import type { DeployedDelivery } from '../wiring/deployed-delivery.js'
import type { Reach } from './reach-aws.js'

/** The operator's connection to a deployed delivery. */
export interface OpenDelivery {
  /** Sends and recalls as its functions do; it neither receives nor dispatches. */
  readonly bus: Bus
  readonly sqs: SQSClient
  /** Closes the connections. */
  close(): void
}

/** Nobody waits for a publish at a terminal, so it may take longer than in the dispatcher. */
const PUBLISH_TIMEOUT_MS = 10_000

/** Opens a deployed delivery with the operator's own credentials. */
export const openDelivery = (delivery: DeployedDelivery, reach: Reach): OpenDelivery => {
  const { busName, tableName, topicArn, wakeQueueUrl } = delivery
  const dynamoDb = createDynamoDbClient(reach)
  const sns = createSnsClient(PUBLISH_TIMEOUT_MS, reach)
  const sqs = new SQSClient({ ...reach, useQueueUrlAsEndpoint: reach.endpoint === undefined })
  const bus = assembleBus({
    name: busName,
    sendOnly: true,
    transport: snsTransport({ topicArn, client: sns, publishTimeoutMs: PUBLISH_TIMEOUT_MS }),
    persistence: dynamoDbPersistence({ tableName, client: dynamoDb }),
    ...(wakeQueueUrl !== undefined && { wakeHint: sqsWakeHint({ queueUrl: wakeQueueUrl, client: sqs }) }),
  })
  return {
    bus,
    sqs,
    close: () => {
      for (const client of [dynamoDb, sns, sqs]) client.destroy()
    },
  }
}
