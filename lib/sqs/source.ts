import type { SQSClient } from '@aws-sdk/client-sqs'
import { type Clock, systemClock } from '../core/clock.js'
import { PostdateError, reasonOf } from '../core/errors.js'
import { consoleLogger, type Logger } from '../core/observation.js'
import type { MessageSource } from '../core/transport.js'
import { createSqsClient, queueNameOf } from './client.js'
import { sqsDeadLetters } from './dead-letters.js'
import { startPoller } from './poller.js'

/** How a started bus receives from its queue. */
export interface SqsSourceOptions {
  readonly queueUrl: string
  /**
   * The queue's dead-letter queue: what its receiver gives up on goes there at once, with the reason. Without it the redrive
   * policy alone moves records there, when they came too often.
   * @default none
   */
  readonly deadLetterQueueUrl?: string
  /** Emulators whose queue URLs don't resolve need one with `useQueueUrlAsEndpoint: false`. @default one of the queue's region */
  readonly client?: SQSClient
  /**
   * How long a poll waits for messages, in whole seconds from 1 to 20. Stopping waits for the polls under way, so longer
   * waits save requests and make stopping slower.
   * @default 5
   */
  readonly waitTimeSeconds?: number
  /**
   * How long a received record stays hidden from others, in seconds from 3 to 43,200; renewed while its batch is in work.
   * @default the queue's own, not renewed
   */
  readonly visibilitySeconds?: number
  /** How many batches are in work at one time, from 1 to 50. @default 1 */
  readonly concurrency?: number
  /** Told what went wrong between this process and the queue. @default the console */
  readonly logger?: Logger
  /** Times the pauses after a failed poll. @default the machine's */
  readonly clock?: Clock
}

const readInteger = (option: string, value: number, least: number, most: number): number => {
  if (!Number.isInteger(value) || value < least || value > most)
    throw new PostdateError('options.invalid', {
      option,
      value: String(value),
      rule: `it must be an integer from ${least} to ${most}`,
    })
  return value
}

/** Above the wait of a poll, for its answer to arrive. */
const ANSWER_WITHIN_MS = 5000

/** Loaded only here: a Lambda receives without it. */
const loadConsumer = async () => {
  // Caught right here, so that bundlers know that it may be missing: whoever bundles a sender needs none.
  const { Consumer } = await import('sqs-consumer').catch((error: unknown) => {
    throw new Error('the package sqs-consumer could not be loaded', { cause: error })
  })
  return Consumer
}

/**
 * Receives from an SQS queue by long polling, in batches of at most ten. A record that failed is not acknowledged, so it
 * comes again when its visibility time ends, and goes to the queue's dead-letter queue when it came too often. A poll that
 * fails is logged and tried again after 1, 2, 4 … 15 seconds, for as long as the source is not stopped.
 *
 * Needs the packages `sqs-consumer` and `@aws-sdk/client-sqs`.
 * @throws PostdateError `options.invalid`
 * @example
 * const source = sqsSource({ queueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/billing' })
 * const stop = source.start(async (records) => { console.log(records.length); return [] })
 */
export const sqsSource = (options: SqsSourceOptions): MessageSource => {
  const {
    queueUrl,
    deadLetterQueueUrl,
    client: given,
    visibilitySeconds,
    logger = consoleLogger,
    clock = systemClock,
  } = options
  const waitTimeSeconds = readInteger('waitTimeSeconds', options.waitTimeSeconds ?? 5, 1, 20)
  const concurrency = readInteger('concurrency', options.concurrency ?? 1, 1, 50)
  if (visibilitySeconds !== undefined) readInteger('visibilitySeconds', visibilitySeconds, 3, 43_200)

  return {
    name: `sqs:${queueNameOf(queueUrl)}`,
    ...(deadLetterQueueUrl !== undefined && {
      deadLetters: sqsDeadLetters({ queueUrl: deadLetterQueueUrl, ...(given !== undefined && { client: given }) }),
    }),
    start(onBatch) {
      const client = given ?? createSqsClient(queueUrl, waitTimeSeconds * 1000 + ANSWER_WITHIN_MS)
      let isStopped = false
      const poller = {
        queueUrl,
        client,
        waitTimeSeconds,
        logger,
        clock,
        ...(visibilitySeconds !== undefined && { visibilitySeconds }),
      }
      const starting = loadConsumer().then(
        (Consumer) =>
          isStopped ? [] : Array.from({ length: concurrency }, () => startPoller(Consumer.create, poller, onBatch)),
        (error: unknown) => {
          logger.error('nothing is received: install the package sqs-consumer', { queueUrl, reason: reasonOf(error) })
          return []
        },
      )
      const stopAll = async () => {
        isStopped = true
        const stops = await starting
        await Promise.all(stops.map((stop) => stop()))
        if (given === undefined) client.destroy()
      }
      let stopped: Promise<void> | undefined
      return () => {
        stopped ??= stopAll()
        return stopped
      }
    },
  }
}
