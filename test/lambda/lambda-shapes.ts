import type { Context, SQSEvent, SQSRecord } from 'aws-lambda'
import type { Envelope } from '../../lib/core/envelope.js'
import type { Publication, Transport } from '../../lib/core/transport.js'
import { toWire } from '../../lib/core/wire.js'

/** The context of an invocation, of the shape that Lambda gives. */
export const invocationContext = (requestId = 'request-1', remainingMs = 30_000): Context => ({
  callbackWaitsForEmptyEventLoop: true,
  functionName: 'orders',
  functionVersion: '$LATEST',
  invokedFunctionArn: 'arn:aws:lambda:us-east-1:123456789012:function:orders',
  memoryLimitInMB: '256',
  awsRequestId: requestId,
  logGroupName: '/aws/lambda/orders',
  logStreamName: '2030/01/01/[$LATEST]0',
  getRemainingTimeInMillis: () => remainingMs,
  done: () => {},
  fail: () => {},
  succeed: () => {},
})

/** A record of an `SQSEvent`, with all that Lambda puts into it. */
export const sqsRecord = (
  messageId: string,
  body: string,
  attributes: Readonly<Record<string, string>> = {},
): SQSRecord => ({
  messageId,
  receiptHandle: `handle-${messageId}`,
  body,
  attributes: {
    ApproximateReceiveCount: '1',
    SentTimestamp: '1893456000000',
    SenderId: 'AIDAIT2UOQQY3AUEKVGXU',
    ApproximateFirstReceiveTimestamp: '1893456000000',
  },
  messageAttributes: Object.fromEntries(
    Object.entries(attributes).map(([name, stringValue]) => [name, { stringValue, dataType: 'String' }]),
  ),
  md5OfBody: '0'.repeat(32),
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:us-east-1:123456789012:billing',
  awsRegion: 'us-east-1',
})

/** The records in which published messages reach a queue by raw delivery. */
export const sqsEventOf = (publications: readonly Publication[]): SQSEvent => ({
  Records: publications.map(({ envelope, delivery }, index) => {
    const { body, attributes } = toWire(envelope, delivery)
    return sqsRecord(`record-${index + 1}`, body, attributes)
  }),
})

/** A command on its way, as a sender in another process would have made it. */
export const envelopeOf = (messageId: string, name: string, payload: object): Envelope => ({
  messageId,
  kind: 'command',
  name,
  body: JSON.stringify({ ...payload, $name: name, $version: 1 }),
  correlationId: `conversation-of-${messageId}`,
  attributes: {},
  stickyAttributes: { tenant: 'acme' },
  headers: {},
  sentAt: 1_000,
})

/** A transport that remembers what it published. */
export const recordingTransport = (): Transport & { readonly published: Publication[] } => {
  const published: Publication[] = []
  return {
    name: 'recording',
    limits: { maxMessageBytes: 262_144, maxBatchBytes: 262_144, maxBatchMessages: 10 },
    published,
    publish: async (batch) => {
      published.push(...batch)
      return batch.map(() => ({ outcome: 'published' }))
    },
  }
}
