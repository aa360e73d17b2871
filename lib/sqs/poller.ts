import { ChangeMessageVisibilityBatchCommand, type Message, type SQSClient } from '@aws-sdk/client-sqs'
import type { Consumer } from 'sqs-consumer'
import { type Clock, sleepUntil } from '../core/clock.js'
import { reasonOf } from '../core/errors.js'
import type { Logger } from '../core/observation.js'
import type { MessageSource } from '../core/transport.js'
import { isOrderedQueue, readSqsMessage } from './record.js'

/** Handles a batch and answers the ids of the records that failed. */
type OnBatch = Parameters<MessageSource['start']>[0]

/** What one poller works with. */
interface PollerOptions {
  readonly queueUrl: string
  readonly client: SQSClient
  readonly waitTimeSeconds: number
  /** @default the queue's own, without a heartbeat */
  readonly visibilitySeconds?: number
  readonly logger: Logger
  readonly clock: Clock
}

/** Thrown where the library would receive, to keep it from a further request. */
const STOPPED = new Error('the poller was stopped')

const MAX_BATCH = 10
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 15_000

/**
 * Polls a queue until it is stopped, one batch at a time, whatever happens.
 *
 * What the library leaves to us (sqs-consumer 14.2.8, read and tried): after an error of the connection it polls again at
 * once, so a pause is put in front of the next request; `stop()` neither waits for the batch in work nor spares the
 * deletes when it aborts, so the end of a poll is watched here, and a poll under way is left to end: SQS may hand out
 * messages to a request that is aborted, and they would stay hidden for their visibility time.
 * @returns stops; resolves when what was received is handled and answered, or given back.
 */
export const startPoller = (create: typeof Consumer.create, options: PollerOptions, onBatch: OnBatch) => {
  const { queueUrl, client, waitTimeSeconds, visibilitySeconds, logger, clock } = options
  const stopping = new AbortController()
  let pauseMs = 0
  let isPolling = false
  let whenIdle = () => {}

  const beforeReceive = async () => {
    isPolling = true
    if (pauseMs > 0) await sleepUntil(clock, clock.now() + pauseMs, stopping.signal)
    if (stopping.signal.aborted) throw STOPPED
  }
  const afterReceive = async () => {
    pauseMs = 0
  }
  const afterPoll = () => {
    isPolling = false
    whenIdle()
  }

  const giveBack = async (messages: Message[]) => {
    const Entries = messages.map(({ MessageId, ReceiptHandle }) => ({
      Id: MessageId,
      ReceiptHandle,
      VisibilityTimeout: 0,
    }))
    try {
      await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }))
    } catch (error) {
      logger.warn('records could not be given back; they return when their visibility time ends', {
        queueUrl,
        records: messages.length,
        reason: reasonOf(error),
      })
    }
  }

  /** Answers the messages to acknowledge. */
  const handleMessageBatch = async (messages: Message[]): Promise<Message[]> => {
    if (stopping.signal.aborted) {
      await giveBack(messages)
      return []
    }
    try {
      const failed = new Set(await onBatch(messages.map(readSqsMessage)))
      return messages.filter(({ MessageId = '' }) => !failed.has(MessageId))
    } catch (error) {
      logger.error('a batch could not be handled; all of it comes again', { queueUrl, reason: reasonOf(error) })
      return []
    }
  }

  const consumer = create({
    queueUrl,
    sqs: client,
    batchSize: MAX_BATCH,
    waitTimeSeconds,
    messageAttributeNames: ['All'],
    // Standard queues have groups too, for fairness, and no order within them.
    ...(isOrderedQueue(queueUrl) && {
      messageSystemAttributeNames: ['MessageGroupId' as const],
      // The receiver holds back what is behind a failure in its group.
      suppressFifoWarning: true,
    }),
    // Its pause for some errors of the connection, in favour of ours for all.
    authenticationErrorTimeout: 0,
    preReceiveMessageCallback: beforeReceive,
    postReceiveMessageCallback: afterReceive,
    handleMessageBatch,
    // A record stays hidden as long as its batch is in work.
    ...(visibilitySeconds !== undefined && {
      visibilityTimeout: visibilitySeconds,
      heartbeatInterval: visibilitySeconds / 3,
    }),
  })
  consumer.on('empty', afterPoll)
  consumer.on('response_processed', afterPoll)
  consumer.on('error', (error, messages) => {
    // With messages: their acknowledgement or heartbeat failed, and the poll goes on.
    if (messages !== undefined) {
      logger.error('SQS did not take the answer to a batch; records may come again', {
        queueUrl,
        reason: reasonOf(error),
      })
      return
    }
    if (error.cause !== STOPPED) {
      pauseMs = Math.min(Math.max(FIRST_PAUSE_MS, pauseMs * 2), LONGEST_PAUSE_MS)
      logger.error('the queue could not be polled; trying again', { queueUrl, pauseMs, reason: reasonOf(error) })
    }
    afterPoll()
  })
  consumer.start()

  return async (): Promise<void> => {
    stopping.abort()
    consumer.stop()
    if (!isPolling) return
    await new Promise<void>((resolve) => {
      const others = whenIdle
      whenIdle = () => {
        others()
        resolve()
      }
    })
  }
}
