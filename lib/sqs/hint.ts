import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { reasonOf } from '../core/errors.js'
import { consoleLogger, type Logger } from '../core/observation.js'
import type { WakeHint } from '../core/transport.js'
import { createSqsClient } from './client.js'
import { hintDelaySeconds, hintServes } from './hint-delay.js'

/** Where hints go. */
export interface SqsWakeHintOptions {
  /** The queue that the waker reads. */
  readonly queueUrl: string
  /** A client for hints alone: its recursion detection is taken out. @default one that gives up after two attempts of a second */
  readonly client?: SQSClient
  /** Told of hints that failed. @default the console */
  readonly logger?: Logger
}

/** What a hint says: the body of its message, as JSON. */
export interface HintContent {
  readonly shard: number
  /** Epoch milliseconds. */
  readonly dueAt: number
}

/** A hint that is sent or under way. */
interface SentHint {
  /** When SQS shows it, epoch milliseconds; the request's own time makes it later, never earlier. */
  readonly visibleAt: number
  /** Whether its request may have left; until then it serves whatever it is in time for. */
  hasBegun: boolean
  /** Resolves when it is sent or has failed. */
  sent: Promise<void>
}

const HINT_TIMEOUT_MS = 1000

const createHintClient = (queueUrl: string) => createSqsClient(queueUrl, HINT_TIMEOUT_MS, { maxAttempts: 2 })

/**
 * Sends wake hints through an SQS queue: a message for the waker that names a shard, visible one to two seconds before
 * the row is due. A row that a hint of this process for its shard already serves needs none of its own, unless that hint
 * failed. Never rejects: a hint that fails is logged, and the dispatcher's next tick finds the row.
 * @example
 * const wakeHint = sqsWakeHint({ queueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders-wake' })
 */
export const sqsWakeHint = (options: SqsWakeHintOptions): WakeHint => {
  const { queueUrl, client = createHintClient(queueUrl), logger = consoleLogger } = options
  // Lambda would cut the chain send, hint, waker, handler, send after 16 rounds by the lineage in the trace header.
  client.middlewareStack.remove('recursionDetectionMiddleware')
  const hintsOfShard = new Map<number, SentHint[]>()

  const send = async (content: HintContent, DelaySeconds: number): Promise<boolean> => {
    try {
      await client.send(
        new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: JSON.stringify(content), DelaySeconds }),
      )
      return true
    } catch (error) {
      logger.warn('a wake hint could not be sent; the next tick finds the row', { ...content, reason: reasonOf(error) })
      return false
    }
  }

  /** Begins after the calls of the present turn, so that the rows of one flush that are due at once share it. */
  const begin = async (hint: SentHint, content: HintContent, delaySeconds: number): Promise<void> => {
    await Promise.resolve()
    hint.hasBegun = true
    if (await send(content, delaySeconds)) return
    // A failed hint serves nobody: the next row sends its own.
    const current = hintsOfShard.get(content.shard) ?? []
    hintsOfShard.set(
      content.shard,
      current.filter((one) => one !== hint),
    )
  }

  return async ({ shard, dueAt, now }) => {
    const delaySeconds = hintDelaySeconds(dueAt, now)
    if (delaySeconds === undefined) return
    // Those that serve still: what is visible may have been looked at before this row was stored.
    const hints = (hintsOfShard.get(shard) ?? []).filter(({ visibleAt, hasBegun }) => visibleAt > now || !hasBegun)
    hintsOfShard.set(shard, hints)
    const isDueAtOnce = delaySeconds === 0
    const serving = hints.find(
      ({ visibleAt }) => hintServes(visibleAt, dueAt, now) || (isDueAtOnce && visibleAt <= now),
    )
    if (serving !== undefined) return serving.sent
    const hint: SentHint = { visibleAt: now + delaySeconds * 1000, hasBegun: false, sent: Promise.resolve() }
    hint.sent = begin(hint, { shard, dueAt }, delaySeconds)
    hints.push(hint)
    return hint.sent
  }
}
