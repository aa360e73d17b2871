import {
  PublishBatchCommand,
  type PublishBatchRequestEntry,
  type PublishBatchResponse,
  type SNSClient,
} from '@aws-sdk/client-sns'
import { PostdateError, reasonOf } from '../core/errors.js'
import type { Publication, PublishOutcome, Transport } from '../core/transport.js'
import { toWire } from '../core/wire.js'
import { createSnsClient, dropLineage } from './client.js'
import { failureOfEntry, failureOfRequest, type PublishFailure, unansweredEntry, unwritableEntry } from './failures.js'

/** How to reach the topic of a bus. */
export interface SnsTransportOptions {
  /** The ARN of the bus's one standard topic. Its region is the client's, unless the environment names an endpoint. */
  readonly topicArn: string
  /**
   * A client for this transport alone: its recursion detection is taken out, so that a delayed message starts a chain of
   * its own. Give it `maxAttempts: 1`.
   * @default one made for dispatching
   */
  readonly client?: SNSClient
  /**
   * The topic's `MaximumMessageSize`, in bytes, from 1,024 to 1,048,576: the most of a message, and of a batch.
   * @default 262144
   * @see https://docs.aws.amazon.com/sns/latest/dg/large-message-payloads.html
   */
  readonly maxMessageBytes?: number
  /** How long a publish may take, in milliseconds, from 1. After that it is given up, and nothing more of it is sent. @default 5000 */
  readonly publishTimeoutMs?: number
}

/** The most entries of a PublishBatch. @see https://docs.aws.amazon.com/sns/latest/api/API_PublishBatch.html */
const MAX_BATCH_MESSAGES = 10
const DEFAULT_MESSAGE_BYTES = 262_144
const DEFAULT_TIMEOUT_MS = 5000

const TOPIC_ARN = /^arn:[\w-]+:sns:([\w-]+):\d{12}:([\w-]{1,256})$/

const invalid = (option: string, value: unknown, rule: string) =>
  new PostdateError('options.invalid', { option, value: String(value), rule })

/** The region and the name in a topic's ARN. */
const readTopicArn = (topicArn: string): { region: string; name: string } => {
  const [, region, name] = TOPIC_ARN.exec(topicArn) ?? []
  if (region === undefined || name === undefined)
    throw invalid(
      'topicArn',
      topicArn,
      'it must be the ARN of a standard SNS topic, arn:aws:sns:<region>:<account>:<name>',
    )
  return { region, name }
}

const readInteger = (option: string, value: number, least: number, most: number): number => {
  if (!Number.isInteger(value) || value < least || value > most)
    throw invalid(option, value, `it must be an integer from ${least} to ${most}`)
  return value
}

/** Ids of entries are their place in the batch: always distinct, also when one message is in it twice. */
const writeEntry = ({ envelope, delivery }: Publication, index: number): PublishBatchRequestEntry => {
  const { body, attributes } = toWire(envelope, delivery)
  const MessageAttributes: PublishBatchRequestEntry['MessageAttributes'] = {}
  // SNS refuses an empty value; what is missing is read as what it stood for.
  for (const [name, StringValue] of Object.entries(attributes))
    if (StringValue !== '') MessageAttributes[name] = { DataType: 'String', StringValue }
  return { Id: String(index), Message: body, MessageAttributes }
}

/** The outcome of each entry that an answer names, by its id. */
const readAnswer = ({
  Successful = [],
  Failed = [],
}: PublishBatchResponse): Map<string | undefined, PublishOutcome> => {
  const outcomes = new Map<string | undefined, PublishOutcome>()
  for (const { Id } of Successful) outcomes.set(Id, { outcome: 'published' })
  for (const entry of Failed) outcomes.set(entry.Id, failureOfEntry(entry))
  return outcomes
}

/**
 * Ends a call at its time-out, whatever holds it up: the client's own time-out knows only the wait for the first byte of
 * the answer, not credentials that don't come or an answer that stalls. An aborted call sends nothing afterwards.
 */
const withinMs = async <T>(timeoutMs: number, call: (abortSignal: AbortSignal) => Promise<T>): Promise<T> => {
  const abort = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(Object.assign(new Error(`no answer within ${timeoutMs} ms`), { name: 'TimeoutError' }))
      abort.abort()
    }, timeoutMs)
  })
  try {
    return await Promise.race([call(abort.signal), timeout])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Publishes through one standard SNS topic, in batches of at most ten, each in one request and without a retry. Its
 * subscriptions filter on the attribute `route` and have raw delivery; see `docs/reference/wire-format.md`.
 * @throws PostdateError `options.invalid`
 * @example
 * const transport = snsTransport({ topicArn: 'arn:aws:sns:eu-west-1:123456789012:orders' })
 */
export const snsTransport = (options: SnsTransportOptions): Transport => {
  const { topicArn, client: given } = options
  const { region, name } = readTopicArn(topicArn)
  const maxMessageBytes = readInteger(
    'maxMessageBytes',
    options.maxMessageBytes ?? DEFAULT_MESSAGE_BYTES,
    1024,
    1_048_576,
  )
  const publishTimeoutMs = readInteger(
    'publishTimeoutMs',
    options.publishTimeoutMs ?? DEFAULT_TIMEOUT_MS,
    1,
    2 ** 31 - 1,
  )
  const client = given === undefined ? createSnsClient(publishTimeoutMs, { region }) : dropLineage(given)

  const send = (entries: PublishBatchRequestEntry[]): Promise<PublishBatchResponse> =>
    withinMs(publishTimeoutMs, (abortSignal) =>
      client.send(new PublishBatchCommand({ TopicArn: topicArn, PublishBatchRequestEntries: entries }), {
        abortSignal,
      }),
    )

  return {
    name: `sns:${name}`,
    limits: { maxMessageBytes, maxBatchBytes: maxMessageBytes, maxBatchMessages: MAX_BATCH_MESSAGES },
    async publish(batch) {
      const entries: PublishBatchRequestEntry[] = []
      const unwritable = new Map<number, PublishFailure>()
      for (const [index, publication] of batch.entries()) {
        try {
          entries.push(writeEntry(publication, index))
        } catch (error) {
          unwritable.set(index, unwritableEntry(reasonOf(error)))
        }
      }
      if (entries.length === 0) return batch.map((_, index) => unwritable.get(index) ?? unansweredEntry)
      try {
        const answer = readAnswer(await send(entries))
        return batch.map((_, index) => unwritable.get(index) ?? answer.get(String(index)) ?? unansweredEntry)
      } catch (error) {
        const failure = failureOfRequest(error, entries.length)
        return batch.map((_, index) => unwritable.get(index) ?? failure)
      }
    },
  }
}
