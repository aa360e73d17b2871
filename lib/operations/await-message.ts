import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { Clock } from '../core/clock.js'

/** What to wait for, where, and until when. */
export interface AwaitedMessage {
  readonly messageId: string
  readonly queueUrl: string
  /** Epoch milliseconds; the last look may end some seconds later. */
  readonly giveUpAt: number
  readonly clock: Clock
  /** Called after each look that did not find it. */
  readonly onLook: () => void
}

const LOOK_SECONDS = 5
/** Messages of others are back after this, as if nobody had looked. */
const HIDDEN_SECONDS = 5

/**
 * Waits for a message in a queue, and removes it there; others stay. Answers when SQS got it, epoch milliseconds by the
 * clock of SQS, or `undefined` if it did not come.
 */
export const awaitMessage = async (
  sqs: SQSClient,
  { messageId, queueUrl, giveUpAt, clock, onLook }: AwaitedMessage,
): Promise<number | undefined> => {
  while (clock.now() < giveUpAt) {
    const { Messages: received = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: LOOK_SECONDS,
        VisibilityTimeout: HIDDEN_SECONDS,
        MessageAttributeNames: ['messageId'],
        MessageSystemAttributeNames: ['SentTimestamp'],
      }),
    )
    const found = received.find(({ MessageAttributes }) => MessageAttributes?.messageId?.StringValue === messageId)
    if (found !== undefined) {
      await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: found.ReceiptHandle }))
      return Number(found.Attributes?.SentTimestamp)
    }
    onLook()
  }
  return undefined
}
