import { type ContextOrigin, describeHandling, type OpenContext } from '../context.js'
import { isPostdateError, PostdateError, reasonOf } from '../errors.js'
import type { DeliveryResult } from '../outbox.js'
import type { Handler } from '../receiver.js'
import type { IncomingRecord } from '../transport.js'
import {
  checkResult,
  type DecidingParts,
  type Decision,
  decideFailure,
  decideNewerVersion,
  decideResult,
} from './decide-end.js'
import { runIncoming } from './incoming-middleware.js'
import { type ReadRecord, readRecord } from './read-record.js'
import { makeCopy, type RedeliveryCopy } from './redelivery-copy.js'

/** What a receiver needs of its bus. */
export interface BusDoors {
  /** Opens a context for a message being handled. */
  readonly open: (origin: ContextOrigin) => OpenContext
  /** Stores a copy for one receiver. */
  readonly redeliver: (copy: RedeliveryCopy) => Promise<DeliveryResult>
}

/** What handling a record takes. */
export interface HandlingParts extends DecidingParts {
  readonly doors: BusDoors
  /** How long the handlers may still run, in milliseconds; `undefined`: for ever. */
  readonly timeLeft: () => number | undefined
}

/** The handlers of a batch that are running. */
export interface BatchRun {
  /** The batch was answered without them: whatever they still do must not count. */
  isOver: boolean
  /** Closes the context of each. */
  readonly discards: Set<() => void>
}

const never = new Promise<never>(() => {})

const runHandler = async (
  read: ReadRecord,
  handler: Handler,
  parts: HandlingParts,
  run: BatchRun,
): Promise<Decision> => {
  const { settings, receiver, doors } = parts
  const { received, message } = read
  const { context, flush, discard } = doors.open({
    handling: { received, receiver: receiver.name, handler: handler.messageName },
  })
  run.discards.add(discard)
  const handled = describeHandling(context, received, settings.clock.now())
  try {
    const incoming = { message, context: handled, receiver: receiver.name }
    const result = await runIncoming(receiver.incoming ?? [], incoming, () => handler.handle(message, handled))
    // Its record was given back, and its sends are dropped: calling it handled, or failed, would be a lie to the inbox.
    if (run.isOver) return await never
    checkResult(result, read, parts)
    await flush()
    return decideResult(read, result, parts)
  } catch (error) {
    discard()
    return run.isOver ? await never : decideFailure(read, error, parts)
  } finally {
    run.discards.delete(discard)
  }
}

/** Names what is done once. A dead letter that was put back is to be handled again. */
const inboxKey = ({ received, putBack }: ReadRecord, receiver: string): string =>
  JSON.stringify([received.envelope.messageId, receiver, received.delivery.attempt, ...(putBack ? [putBack] : [])])

/**
 * The inbox goes around handler, flush and decision together. What it remembers is the decision: should this process die
 * before that is carried out, the next one carries it out and does not run the handler again.
 */
const runOnce = async (read: ReadRecord, handler: Handler, parts: HandlingParts, run: BatchRun): Promise<Decision> => {
  const { receiver, observe, timeLeft } = parts
  if (receiver.inbox === undefined) return runHandler(read, handler, parts, run)
  const work = async () => JSON.stringify(await runHandler(read, handler, parts, run))
  const answer = await receiver.inbox.once(inboxKey(read, receiver.name), work, timeLeft())
  if (answer.state === 'in-progress') throw new Error('it is being handled elsewhere')
  if (answer.state === 'remembered') {
    const { messageId, name } = read.received.envelope
    observe({ type: 'handled-before', messageId, name, receiver: receiver.name })
  }
  return JSON.parse(answer.result) as Decision
}

const decide = async (read: ReadRecord, parts: HandlingParts, run: BatchRun): Promise<Decision> => {
  const { receiver } = parts
  const { name } = read.received.envelope
  const handler = receiver.handlers.get(name)
  if (handler === undefined) {
    const known = [...receiver.handlers.keys()]
    return decideFailure(
      read,
      new PostdateError('receiver.no-handler', { name, receiver: receiver.name, known }),
      parts,
    )
  }
  const { version } = handler
  if (version !== undefined && read.message.$version > version) return decideNewerVersion(read, version, parts)
  return runOnce(read, handler, parts, run)
}

const bury = async (
  record: IncomingRecord,
  reason: string,
  parts: HandlingParts,
  read?: ReadRecord,
  failure?: object,
) => {
  const { deadLetters, receiver, settings, observe } = parts
  if (deadLetters === undefined) throw new Error(reason)
  const attempt = read?.received.delivery.attempt
  const about = { receiver: receiver.name, reason, ...(attempt !== undefined && { attempt }) }
  await deadLetters.send({ ...about, record, diedAt: settings.clock.now(), ...failure })
  const { recordId } = record
  settings.logger.error('a message was given up on and lies among the dead letters', {
    ...about,
    recordId,
    messageId: record.attributes.messageId,
    messageName: record.attributes.messageName,
  })
  observe({ type: 'dead-lettered', recordId, ...about })
}

const redeliver = async (read: ReadRecord, decision: Decision & { end: 'copy' }, parts: HandlingParts) => {
  const { settings, receiver, observe, doors } = parts
  const { received } = read
  const { dueAt, why, failure } = decision
  const copy = makeCopy({ received, receiver: receiver.name, dueAt, failure }, settings)
  if (copy === undefined) throw new Error('it leaves no room for what a redelivery adds')
  const stored = await doors.redeliver(copy)
  if (!stored.ok) throw stored.error
  const { messageId, name } = received.envelope
  const about = { messageId, name, receiver: receiver.name, attempt: copy.attempt, dueAt, why }
  if (why !== 'requeued')
    settings.logger.warn('a message is delivered again later', { ...about, reason: failure?.last?.message })
  observe({ type: 'redelivery-stored', ...about })
}

const carryOut = async (decision: Decision, read: ReadRecord, parts: HandlingParts): Promise<void> => {
  const { messageId, name } = read.received.envelope
  const { receiver, observe } = parts
  switch (decision.end) {
    case 'done':
      return observe({ type: 'handled', messageId, name, receiver: receiver.name })
    case 'copy':
      return redeliver(read, decision, parts)
    case 'dead': {
      const { failure } = decision
      return bury(read.record, decision.reason, parts, read, failure && { failure })
    }
  }
}

/**
 * Handles one record to its end: handled, copied for a later attempt, or among the dead letters. Only then may it be
 * acknowledged.
 * @throws what keeps it from an end; it is then to be given back to its queue
 */
export const handleRecord = async (record: IncomingRecord, parts: HandlingParts, run: BatchRun): Promise<void> => {
  let read: ReadRecord
  try {
    read = readRecord(record)
  } catch (error) {
    const { recordId } = record
    parts.observe({ type: 'handling-failed', recordId, receiver: parts.receiver.name, reason: reasonOf(error) })
    const why = isPostdateError(error, 'receiver.unreadable-record') ? error.details.rule : reasonOf(error)
    return bury(record, `unreadable: ${why}`, parts)
  }
  await carryOut(await decide(read, parts, run), read, parts)
}
