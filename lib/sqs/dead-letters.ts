import { type MessageAttributeValue, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { isPostdateError, PostdateError, reasonOf } from '../core/errors.js'
import { hashText } from '../core/ids.js'
import { type DeadLetters, toDeadLetterWire } from '../core/redelivery/dead-letter.js'
import { createSqsClient, queueNameOf } from './client.js'

/** Where a receiver's dead letters go. */
export interface SqsDeadLettersOptions {
  /** The receiver's dead-letter queue: the one that its queue's redrive policy names. */
  readonly queueUrl: string
  /** A client for dead letters alone: its recursion detection is taken out. @default one that tries three times, 5 s each */
  readonly client?: SQSClient
  /** The queue's `MaximumMessageSize`, in bytes, from 1,024. @default 262144 */
  readonly maxMessageBytes?: number
}

const TIMEOUT_MS = 5_000
const DEFAULT_MESSAGE_BYTES = 262_144

const toMessageAttributes = (attributes: Readonly<Record<string, string>>): Record<string, MessageAttributeValue> =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]),
  )

/** A queue that keeps an order needs a group, and drops a repeat within five minutes. */
const ordering = (queueUrl: string, groupId: string, recordId: string) =>
  queueUrl.endsWith('.fifo') ? { MessageGroupId: groupId, MessageDeduplicationId: hashText(recordId) } : {}

/**
 * Sends dead letters to an SQS queue: the record's body as it came, its attributes, and one more, `deadLetter`, that says why.
 * See `docs/reference/wire-format.md`.
 * @throws PostdateError `options.invalid`
 * @example
 * const deadLetters = sqsDeadLetters({ queueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/billing-dead' })
 */
export const sqsDeadLetters = (options: SqsDeadLettersOptions): DeadLetters => {
  const { queueUrl, maxMessageBytes = DEFAULT_MESSAGE_BYTES } = options
  if (!Number.isSafeInteger(maxMessageBytes) || maxMessageBytes < 1_024)
    throw new PostdateError('options.invalid', {
      option: 'maxMessageBytes',
      value: String(maxMessageBytes),
      rule: 'it must be an integer from 1024',
    })
  const client = options.client ?? createSqsClient(queueUrl, TIMEOUT_MS, { maxAttempts: 3 })
  // Put back some day, a dead letter starts a chain of its own, and must not be cut off for the rounds before.
  client.middlewareStack.remove('recursionDetectionMiddleware')
  const name = `sqs:${queueNameOf(queueUrl)}`
  return {
    name,
    async send(letter) {
      const { recordId, groupId = letter.receiver } = letter.record
      try {
        const { body, attributes } = toDeadLetterWire(letter, maxMessageBytes, name)
        await client.send(
          new SendMessageCommand({
            QueueUrl: queueUrl,
            MessageBody: body,
            MessageAttributes: toMessageAttributes(attributes),
            ...ordering(queueUrl, groupId, recordId),
          }),
        )
      } catch (error) {
        if (isPostdateError(error)) throw error
        throw new PostdateError(
          'receiver.dead-letter-failed',
          { deadLetters: name, recordId, reason: reasonOf(error) },
          error,
        )
      }
    },
  }
}
