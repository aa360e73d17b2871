import type { Fault, Faults } from './faults.js'
import type { History, MessageRecord } from './history.js'
import type { QueueRecord, SimulatedQueue } from './queue.js'
import type { PlannedMessage } from './scenario.js'

const isStored = ({ rows, immediate, isKeptAway }: MessageRecord): boolean =>
  isKeptAway || immediate.length > 0 || rows.some(({ lives }) => lives.length > 0)

/** Whether a copy for this receiver was stored, or lies among its dead letters. */
const isPassedOn = ({ rows, buriedBy }: MessageRecord, receiver: string): boolean =>
  buriedBy.has(receiver) || rows.some(({ target, lives }) => target === receiver && lives.length > 0)

/** A record that is done with was handled, or its copy for a later attempt is stored, or it lies among the dead letters. */
export const judgeAcknowledged = (history: History, { number }: QueueRecord, receiver: string): void => {
  const message = history.message(number)
  if (!message.handled.has(receiver) && !isPassedOn(message, receiver))
    history.violate('never lost', `${number} was acknowledged by ${receiver} and never handled`)
}

/** The topic being down fails handlers that send at once; everything else names the process or the message. */
const explainsDelivery = (fault: Fault, record: QueueRecord, earlier: QueueRecord['deliveries'][number]): boolean =>
  fault.kind === 'topic-down' ||
  (fault.at >= earlier.at && (fault.process === earlier.process.name || fault.messageIds.includes(record.messageId)))

/** A handler runs again, and so sends again, only for a reason. */
const judgeDeliveries = (history: History, { log }: Faults, record: QueueRecord): void => {
  for (const [index, { at }] of record.deliveries.entries()) {
    const earlier = record.deliveries[index - 1]
    if (earlier === undefined) continue
    const isExplained = log.some((fault) => fault.at <= at && explainsDelivery(fault, record, earlier))
    if (!isExplained) history.violate('repeats', `${record.number} was delivered again, and no fault explains it`)
  }
}

/** A copy for a later attempt is there only because an earlier one failed. */
const judgeCopies = (history: History, { log }: Faults, { number, ids, rows, failed }: MessageRecord): void => {
  for (const { target, attempt, lives } of rows) {
    if (target === undefined) continue
    if (attempt - 1 > (failed.get(target) ?? 0))
      history.violate(
        'repeats',
        `attempt ${attempt} of ${number} at ${target}, which failed ${failed.get(target) ?? 0} times`,
      )
    for (const { storedAt, storedBy } of lives) {
      const isExplained = log.some(
        ({ kind, at, process, messageIds }) =>
          at <= storedAt &&
          (kind === 'topic-down' || process === storedBy.name || messageIds.some((id) => ids.has(id))),
      )
      if (!isExplained)
        history.violate('repeats', `${number} is delivered to ${target} again, and no fault explains it`)
    }
  }
}

/** Whoever was to receive a message has handled it, or has it among the dead letters. */
const judgeReceived = (history: History, queues: readonly SimulatedQueue[], message: MessageRecord): void => {
  const { number, handled, buriedBy } = message
  for (const { name, records } of queues) {
    if (handled.has(name) || buriedBy.has(name)) continue
    // A copy that the topic refused for good is a dead row.
    if (message.rows.some(({ target, lives }) => target === name && lives.at(-1)?.state === 'dead')) continue
    if (records.some((record) => record.number === number))
      history.violate('never lost', `${name} has never handled ${number}`)
  }
}

/** What the first receiver's handlers send is durable once they have resolved, and nowhere before. */
const judgeSent = (history: History, sender: string, { number, children }: PlannedMessage): void => {
  const { handled, buriedBy } = history.message(number)
  for (const child of children) {
    const isThere = isStored(history.message(child.number))
    if (!handled.has(sender) && isThere)
      history.violate('a throw sends nothing', `${child.number} was sent by a handler that never resolved`)
    if (handled.has(sender) && !buriedBy.has(sender) && !isThere && !child.isTakenBack)
      history.violate('durable', `${number} was handled, and ${child.number}, sent by its handler, is nowhere`)
  }
}

/** Judges all that was received, once everything is quiet. */
export const judgeReceiving = (parts: {
  readonly history: History
  readonly faults: Faults
  readonly queues: readonly SimulatedQueue[]
  readonly planned: ReadonlyMap<string, PlannedMessage>
}): void => {
  const { history, faults, queues, planned } = parts
  const [first] = queues
  for (const { records } of queues) for (const record of records) judgeDeliveries(history, faults, record)
  for (const message of history.messages.values()) {
    judgeCopies(history, faults, message)
    judgeReceived(history, queues, message)
  }
  if (first !== undefined) for (const message of planned.values()) judgeSent(history, first.name, message)
}
