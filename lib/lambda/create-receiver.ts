import type { Bus } from '../core/bus.js'
import { PostdateError, reasonOf } from '../core/errors.js'
import { hashText } from '../core/ids.js'
import { consoleLogger, type Logger } from '../core/observation.js'
import { defineReceiver, type Handler, type Receiver, type ReceiverOptions } from '../core/receiver.js'
import type { DeadLetters } from '../core/redelivery/dead-letter.js'
import { sqsDeadLetters } from '../sqs/dead-letters.js'
import { type LambdaRecord, readLambdaRecord } from '../sqs/record.js'
import { compareNames, environmentVariables } from '../wiring/environment.js'
import type { Environment, InvocationContext } from './invocation.js'
import { meterReceiving } from './meter-receiving.js'

/** What a Lambda behind an SQS queue is called with; the `SQSEvent` of `@types/aws-lambda` fits. */
export interface SqsEvent {
  readonly Records: readonly LambdaRecord[]
}

/** Names the records to deliver again; all others are removed from the queue. */
export interface SqsBatchResponse {
  batchItemFailures: { itemIdentifier: string }[]
}

/**
 * A Lambda handler behind an SQS queue whose event source reports batch item failures. Middy and Powertools may wrap it. Of
 * the context it reads the remaining time.
 */
export type SqsBatchHandler = (event: SqsEvent, context?: unknown) => Promise<SqsBatchResponse>

/** How a receiver works. */
export interface CreateReceiverOptions extends ReceiverOptions {
  /** Stable: part of the ids of what its handlers send, and of the route of its redeliveries. As in `MessageReceiver`. */
  readonly name: string
  /** How many records of a batch are handled at once, from 1. @default 10 */
  readonly concurrency?: number
  /** Where records go that are given up on. @default the dead-letter queue that the constructs name; else the redrive policy decides */
  readonly deadLetters?: DeadLetters
  /** Told when a whole batch could not be handled. @default the console */
  readonly logger?: Logger
  /** Where the constructs tell what the queue is subscribed to. @default process.env */
  readonly environment?: Environment
}

/**
 * Compares the handlers with the names that the constructs subscribed the queue to. Outside of what they made, there is
 * nothing to compare.
 */
const checkSubscription = ({ name, handlers }: Receiver, environment: Environment): void => {
  const subscribed = environment[environmentVariables.subscribedNames]
  const expectedReceiver = environment[environmentVariables.receiverName] ?? name
  if (subscribed === undefined) return
  const { onlyListed, onlyKnown } = compareNames(subscribed, [...handlers.keys()], hashText)
  if (onlyListed.length === 0 && onlyKnown.length === 0 && expectedReceiver === name) return
  throw new PostdateError('receiver.subscription-mismatch', {
    receiver: name,
    expectedReceiver,
    withoutHandler: onlyListed,
    withoutSubscription: onlyKnown,
  })
}

const findDeadLetters = ({
  deadLetters,
  environment = process.env,
}: CreateReceiverOptions): DeadLetters | undefined => {
  const queueUrl = environment[environmentVariables.deadLetterQueueUrl]
  return deadLetters ?? (queueUrl ? sqsDeadLetters({ queueUrl }) : undefined)
}

/** Tests and other hosts may give another context, or none: then time is not watched. */
const timeLeftOf = (context: unknown): { timeLeftMs?: number } => {
  const { getRemainingTimeInMillis } = (context ?? {}) as Partial<InvocationContext>
  if (typeof getRemainingTimeInMillis !== 'function') return {}
  const timeLeftMs = (context as InvocationContext).getRemainingTimeInMillis()
  return Number.isFinite(timeLeftMs) ? { timeLeftMs } : {}
}

const answer = (recordIds: readonly string[]): SqsBatchResponse => ({
  batchItemFailures: recordIds.map((itemIdentifier) => ({ itemIdentifier })),
})

/**
 * Makes the Lambda handler of a receiver. Each record is handled on its own, and acknowledged once its handler has resolved
 * and everything that it sent is durable, once a copy for a later attempt is, or once it lies among the dead letters; the
 * answer names the others. Its event source has to report batch item failures, as that of the `MessageReceiver` construct does.
 *
 * It answers before the function's time-out: what has not started by then, or is still running, comes again.
 *
 * In a function that the constructs made a receiver, the handlers are compared with the subscription when the function
 * starts: a message without a handler could only fail, and a handler without a subscription would never run.
 * @throws PostdateError `receiver.duplicate-handler`, `receiver.subscription-mismatch`, `options.invalid`, `options.unknown`
 * @example
 * export const handler = createReceiver(bus, [handlerFor(PlaceOrder, async (order, ctx) => { console.log(order.orderId, ctx.attempt) })], { name: 'billing' })
 */
export const createReceiver = (
  bus: Bus,
  handlers: readonly Handler[],
  options: CreateReceiverOptions,
): SqsBatchHandler => {
  const { name, concurrency = 10, logger = consoleLogger, environment = process.env } = options
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    const rule = 'it must be an integer from 1'
    throw new PostdateError('options.invalid', { option: 'concurrency', value: String(concurrency), rule })
  }
  const receiver = defineReceiver(name, handlers, options)
  checkSubscription(receiver, environment)
  const deadLetters = findDeadLetters(options)
  const meter = meterReceiving(environment)
  return async ({ Records: records }, context) => {
    try {
      return answer(
        await bus.handleRecords(records.map(readLambdaRecord), receiver, {
          concurrency,
          ...timeLeftOf(context),
          ...(deadLetters !== undefined && { deadLetters }),
          onEvent: meter.count,
        }),
      )
    } catch (error) {
      // An empty list would acknowledge everything, and an error hides which records are affected from who reads the log.
      logger.error('a batch could not be handled; all of it comes again', {
        receiver: name,
        records: records.length,
        reason: reasonOf(error),
      })
      return answer(records.map(({ messageId }) => messageId))
    } finally {
      meter.flush()
    }
  }
}
