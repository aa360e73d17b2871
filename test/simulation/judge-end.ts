import type { DeadRow } from '../../lib/core/persistence.js'
import type { Faults } from './faults.js'
import { explains, type History, type Life, lifeOf, type MessageRecord, type RowRecord } from './history.js'
import { judgeReceiving } from './judge-receiving.js'
import type { SimulatedProcess } from './process.js'
import type { SimulatedQueue } from './queue.js'
import type { PlannedMessage, Scenario } from './scenario.js'
import type { World } from './world.js'

/** Whether nothing waits any more, in the store or in a queue. */
export const isQuiet = (history: History, queues: readonly SimulatedQueue[]): boolean => {
  for (const row of history.rows.values()) {
    const state = lifeOf(row)?.state
    if (state === 'waiting' || state === 'held') return false
  }
  return queues.every(({ records }) => records.every(({ isAcknowledged }) => isAcknowledged))
}

/**
 * A process that has ended by itself leaves no timer behind, and no lease, unless the store kept it from giving it back. What
 * it had long given up waiting for may be answered as it ends: that is given back behind its back.
 */
export const judgeEnded = ({ history, faults, usualMs, usefulMs }: World, process: SimulatedProcess): void => {
  const { log } = faults
  const isAnsweredLate =
    2 * usualMs >= usefulMs || log.some(({ kind, process: name }) => name === process.name && /pause|slow/.test(kind))
  if (process.pendingTimers() > 0 && !isAnsweredLate)
    history.violate('clean end', `${process.name} left ${process.pendingTimers()} timers behind`)
  for (const { message, lives } of history.rows.values()) {
    const life = lives.at(-1)
    const claim = life?.claims.at(-1)
    if (life?.state !== 'held' || claim?.process !== process) continue
    const { askedAt } = claim
    const [id = message.number] = message.ids
    if (history.now() - askedAt < usefulMs && !log.some((fault) => explains(fault, id, [process], askedAt)))
      history.violate('clean end', `${process.name} has ended and still holds ${message.number}`)
  }
}

/** Tells of what is still waiting after all faults have ceased and time enough has passed. */
export const judgeStuck = (history: History, queues: readonly SimulatedQueue[]): void => {
  for (const row of history.rows.values()) {
    const life = lifeOf(row)
    if (life?.state === 'waiting' || life?.state === 'held')
      history.violate('never lost', `${row.message.number}, due ${row.address.dueAt}, is still ${life.state}`)
  }
  for (const { name, records } of queues)
    for (const { number, isAcknowledged } of records)
      if (!isAcknowledged) history.violate('never lost', `${number} is still in the queue ${name}`)
}

const judgeRepeats = (history: History, { log }: Faults, row: RowRecord, life: Life): void => {
  const { number, ids } = row.message
  const [id = number] = ids
  for (const [index, publish] of life.publishes.entries()) {
    const earlier = life.publishes[index - 1]
    if (earlier === undefined) continue
    if (earlier.claim === publish.claim) history.violate('repeats', `${number} was published twice under one claim`)
    const since = Math.min(earlier.claim?.askedAt ?? 0, publish.claim?.askedAt ?? 0)
    const processes = [earlier.process, publish.process]
    if (!log.some((fault) => fault.at <= publish.at && explains(fault, id, processes, since)))
      history.violate('repeats', `${number} was published again, and no fault explains it`)
  }
}

/** Where nothing failed, nothing is late: a poll, and six ways through the network, for what is before it in the hand too. */
const promptMs = (usualMs: number) => 3_000 + 6 * usualMs

const judgePromptness = (history: History, row: RowRecord, usualMs: number): void => {
  for (const { storedAt, publishes } of row.lives)
    for (const { at } of publishes) {
      const lateMs = at - Math.max(storedAt, row.address.dueAt)
      if (lateMs > promptMs(usualMs)) history.violate('prompt', `${row.message.number} was published ${lateMs} ms late`)
    }
}

const judgeMessage = (history: History, faults: Faults, message: MessageRecord): void => {
  for (const row of message.rows) for (const life of row.lives) judgeRepeats(history, faults, row, life)
  const { number, immediate, attempts } = message
  // Redeliveries are judged with what was received.
  const rows = message.rows.filter(({ target }) => target === undefined)
  const isTouched = (since: number) =>
    faults.log.some(({ at, messageIds }) => at >= since && messageIds.some((id) => message.ids.has(id)))
  if (immediate.length > attempts && !isTouched(0))
    history.violate(
      'repeats',
      `${number} was sent ${attempts} times, published ${immediate.length} times, without a fault`,
    )
  if (rows.length + Math.min(1, immediate.length) > attempts)
    history.violate('repeats', `${number} was sent ${attempts} times and has ${rows.length} rows`)
  for (const row of rows) {
    if (row.lives.length > attempts && !isTouched(0))
      history.violate('repeats', `${row.key} was stored ${row.lives.length} times in ${attempts} sends`)
  }
}

/** Judges all that happened, once everything is quiet. */
export const judgeEnd = (parts: {
  readonly history: History
  readonly faults: Faults
  readonly queues: readonly SimulatedQueue[]
  readonly dead: readonly DeadRow[]
  readonly planned: ReadonlyMap<string, PlannedMessage>
  readonly scenario: Scenario
}): void => {
  const { history, faults, dead, scenario } = parts
  const isFast = scenario.usualMs < 1_000 && scenario.dispatch.maxInHand >= 10
  if (isFast && scenario.mode === 'started' && faults.log.length === 0)
    for (const row of history.rows.values()) judgePromptness(history, row, scenario.usualMs)
  for (const message of history.messages.values()) judgeMessage(history, faults, message)

  const died = [...history.rows.values()].filter((row) => lifeOf(row)?.state === 'dead')
  if (dead.length !== died.length)
    history.violate('dead', `${died.length} rows died, and the store has ${dead.length} of them`)
  for (const { rowId, reason } of dead) if (reason === '') history.violate('dead', `${rowId} is dead without a reason`)
  judgeReceiving(parts)
}
