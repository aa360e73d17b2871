import { describeValue } from '../describe-value.js'
import { PostdateError, reasonOf } from '../errors.js'
import type { Observer } from '../observation.js'
import type { Receiver } from '../receiver.js'
import { roundUp } from '../schedule/due-instant.js'
import type { BusSettings } from '../settings.js'
import type { DeadLetters } from './dead-letter.js'
import { cutText, describeFailure, type FailureHistory, recordFailure } from './failure-history.js'
import type { HandlerResult } from './handler-result.js'
import type { ReadRecord } from './read-record.js'
import { whyNoCopy } from './redelivery-copy.js'
import { type RedeliveryPolicy, redeliveryDelay } from './redelivery-policy.js'

/** Why a copy waits. */
export type CopyReason = 'failed' | 'requeued' | 'newer-version'

/** What becomes of a message: plain JSON, since an inbox remembers it. */
export type Decision =
  | { readonly end: 'done' }
  | { readonly end: 'copy'; readonly why: CopyReason; readonly dueAt: number; readonly failure?: FailureHistory }
  | { readonly end: 'dead'; readonly reason: string; readonly failure?: FailureHistory }

/** What decisions are made from. */
export interface DecidingParts {
  readonly settings: BusSettings
  readonly receiver: Receiver
  readonly policy: RedeliveryPolicy
  readonly deadLetters: DeadLetters | undefined
  readonly observe: Observer
}

/** Of what a handler threw, in events and logs. */
const LONGEST_REASON = 1_000

/** Says that a record is left to its queue, which delivers it again or moves it by its redrive policy. */
const leaveToQueue = (error: unknown, why: string): Error =>
  new Error(`${cutText(reasonOf(error), LONGEST_REASON)}; left to its queue, since ${why}`, { cause: error })

const NO_DEAD_LETTERS = 'the receiver has no dead letters of its own'

/** Why a failure of this message is its queue's business; `undefined` when it is ours. */
const whyNotOurs = ({ record, received }: ReadRecord, { policy, receiver, settings }: DecidingParts) =>
  policy.enabled
    ? whyNoCopy(received, receiver.name, settings, record.groupId !== undefined)
    : 'redelivery is switched off'

const dueIn = (waitMs: number, { clock, schedule }: BusSettings): number =>
  roundUp(clock.now() + waitMs, schedule.resolutionMs)

const isHopeless = ({ policy, settings, receiver }: DecidingParts, error: unknown): boolean => {
  try {
    const answer: unknown = policy.never?.(error) ?? false
    if (typeof answer === 'boolean') return answer
    // A promise, say, would be true for every error.
    settings.logger.error('redelivery.never must answer true or false; its answer is not used', {
      receiver: receiver.name,
      answer: describeValue(answer),
    })
  } catch (thrown) {
    settings.logger.error('redelivery.never threw; the message is delivered again', {
      receiver: receiver.name,
      reason: reasonOf(thrown),
    })
  }
  return false
}

/**
 * What becomes of a message whose handler failed.
 * @throws Error when it is left to its queue
 */
export const decideFailure = (read: ReadRecord, error: unknown, parts: DecidingParts): Decision => {
  const { settings, policy, receiver, deadLetters, observe } = parts
  const { envelope, delivery } = read.received
  const now = settings.clock.now()
  observe({
    type: 'handling-failed',
    recordId: read.record.recordId,
    receiver: receiver.name,
    reason: cutText(reasonOf(error), LONGEST_REASON),
  })
  const notOurs = whyNotOurs(read, parts)
  if (notOurs !== undefined) throw leaveToQueue(error, notOurs)
  const failure = recordFailure(envelope.failure, error, now, delivery.attempt)
  const hopeless = isHopeless(parts, error)
  if (!hopeless && failure.count < policy.maxAttempts) {
    const seed = `${envelope.messageId}~${receiver.name}~${delivery.attempt}`
    return { end: 'copy', why: 'failed', dueAt: dueIn(redeliveryDelay(policy, failure.count, seed), settings), failure }
  }
  if (deadLetters === undefined) throw leaveToQueue(error, NO_DEAD_LETTERS)
  const why = hopeless
    ? 'never to be redelivered'
    : `failed ${failure.count} times, the last in attempt ${delivery.attempt}`
  return { end: 'dead', reason: `${why}: ${describeFailure(failure)}`, failure }
}

/**
 * Checks before the flush that what a handler asks for can be done.
 * @throws PostdateError `receiver.requeue-not-possible`, `schedule.beyond-horizon`
 */
export const checkResult = (result: HandlerResult, read: ReadRecord, { settings, receiver }: DecidingParts): void => {
  if (result.result !== 'requeue') return
  const { messageId, name } = read.received.envelope
  const reason = whyNoCopy(read.received, receiver.name, settings, read.record.groupId !== undefined)
  if (reason !== undefined)
    throw new PostdateError('receiver.requeue-not-possible', { name, messageId, receiver: receiver.name, reason })
  const now = settings.clock.now()
  const { horizonMs } = settings.schedule
  if (result.afterMs > horizonMs)
    throw new PostdateError('schedule.beyond-horizon', {
      dueAt: now + result.afterMs,
      limitAt: now + horizonMs,
      horizonMs,
    })
}

/**
 * What becomes of a message whose handler resolved.
 * @throws Error when it is left to its queue
 */
export const decideResult = (read: ReadRecord, result: HandlerResult, parts: DecidingParts): Decision => {
  const { failure } = read.received.envelope
  const kept = failure === undefined ? {} : { failure }
  if (result.result === 'ack') return { end: 'done' }
  if (result.result === 'requeue')
    return { end: 'copy', why: 'requeued', dueAt: dueIn(result.afterMs, parts.settings), ...kept }
  const reason = `rejected: ${result.reason}`
  if (parts.deadLetters === undefined) throw leaveToQueue(reason, NO_DEAD_LETTERS)
  return { end: 'dead', reason, ...kept }
}

/** The first wait for code that knows a newer version: a deploy takes minutes. Doubled up to the longest, for a rollback. */
const FIRST_VERSION_WAIT_MS = 60_000
const LONGEST_VERSION_WAIT_MS = 3_600_000

/**
 * What becomes of a message of a newer version than its handler knows: a rolling deploy or a rollback is no fault of the
 * message, so it waits, and nothing is counted against it.
 * @throws Error when it is left to its queue
 */
export const decideNewerVersion = (read: ReadRecord, known: number, parts: DecidingParts): Decision => {
  const { messageId, name, failure } = read.received.envelope
  const { receiver, settings, observe } = parts
  const { $version: version } = read.message
  observe({ type: 'newer-version', messageId, name, receiver: receiver.name, version, known })
  const notOurs = whyNotOurs(read, parts)
  if (notOurs !== undefined)
    throw leaveToQueue(`version ${version} of ${name} is newer than the ${known} that is known`, notOurs)
  const waitMs = Math.min(LONGEST_VERSION_WAIT_MS, FIRST_VERSION_WAIT_MS * 2 ** (read.received.delivery.attempt - 1))
  return {
    end: 'copy',
    why: 'newer-version',
    dueAt: dueIn(waitMs, settings),
    ...(failure !== undefined && { failure }),
  }
}
