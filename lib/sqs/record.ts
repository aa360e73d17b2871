import type { Message } from '@aws-sdk/client-sqs'
import type { IncomingRecord } from '../core/transport.js'
import type { WireMessage } from '../core/wire.js'

/** What is read of a record in an `SQSEvent`; the `SQSRecord` of `@types/aws-lambda` fits. */
export interface LambdaRecord {
  readonly messageId: string
  readonly body: string
  readonly messageAttributes?: Readonly<Record<string, { readonly stringValue?: string | undefined }>>
  /** What SQS knows of it; `MessageGroupId` on queues that keep an order, and on others that share fairly. */
  readonly attributes?: { readonly MessageGroupId?: string | undefined }
  /** Ends in `.fifo` on a queue that keeps an order. */
  readonly eventSourceARN?: string
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** The attributes that hold text, under the name that each source gives to it; numbers are text too, bytes are left out. */
const readTexts = (attributes: unknown, textKey: 'stringValue' | 'StringValue' | 'Value'): Record<string, string> => {
  const texts: Record<string, string> = {}
  if (!isObject(attributes)) return texts
  for (const [name, attribute] of Object.entries(attributes)) {
    if (!isObject(attribute) || attribute.Type === 'Binary') continue
    const text = attribute[textKey]
    if (typeof text === 'string') texts[name] = text
  }
  return texts
}

const parseObject = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    // No JSON, hence no notification; the receiver says what is wrong with it.
    return undefined
  }
}

/**
 * Unwraps an SNS notification: what a queue gets from a subscription without raw delivery, where attributes are in the
 * body. A record with a `messageId` attribute came raw, so its body is never looked into.
 * @see https://docs.aws.amazon.com/sns/latest/dg/sns-large-payload-raw-message-delivery.html
 */
const unwrapNotification = (wire: WireMessage): WireMessage => {
  if (wire.attributes.messageId !== undefined || !wire.body.includes('"Notification"')) return wire
  const notification = parseObject(wire.body)
  if (notification?.Type !== 'Notification' || typeof notification.Message !== 'string') return wire
  return { body: notification.Message, attributes: readTexts(notification.MessageAttributes, 'Value') }
}

const toRecord = (
  recordId: unknown,
  body: unknown,
  attributes: Record<string, string>,
  groupId: unknown,
): IncomingRecord => ({
  recordId: typeof recordId === 'string' ? recordId : '',
  ...(typeof groupId === 'string' && { groupId }),
  ...unwrapNotification({ body: typeof body === 'string' ? body : '', attributes }),
})

/** Whether a queue keeps an order, by its URL or ARN. */
export const isOrderedQueue = (queue: unknown): boolean => typeof queue === 'string' && queue.endsWith('.fifo')

/** Reads a record as Lambda's event source mapping hands it out. Never throws: what is malformed fails when it is read. */
export const readLambdaRecord = (record: LambdaRecord): IncomingRecord =>
  toRecord(
    record.messageId,
    record.body,
    readTexts(record.messageAttributes, 'stringValue'),
    // Standard queues have groups too, for fairness, and no order within them.
    isOrderedQueue(record.eventSourceARN) ? record.attributes?.MessageGroupId : undefined,
  )

/**
 * Reads a message as the SDK receives it; ask for `MessageAttributeNames: ['All']`, and on a queue that keeps an order for
 * the system attribute `MessageGroupId`. Never throws.
 */
export const readSqsMessage = (message: Message): IncomingRecord =>
  toRecord(
    message.MessageId,
    message.Body,
    readTexts(message.MessageAttributes, 'StringValue'),
    message.Attributes?.MessageGroupId,
  )
