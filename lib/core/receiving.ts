import type { Clock } from './clock.js'
import { PostdateError, reasonOf } from './errors.js'
import { guardObserver, type Observer } from './observation.js'
import type { Receiver } from './receiver.js'
import type { DeadLetters } from './redelivery/dead-letter.js'
import { type BatchRun, type BusDoors, type HandlingParts, handleRecord } from './redelivery/handle-record.js'
import { settleRedelivery } from './redelivery/redelivery-policy.js'
import type { BusSettings } from './settings.js'
import type { IncomingRecord } from './transport.js'

/** How a batch of records is handled. */
export interface ReceivingOptions {
  /** How many records are handled at once, from 1. @default 10 */
  readonly concurrency?: number
  /** Where records go that are given up on. @default none: they are left to their queue and its redrive policy */
  readonly deadLetters?: DeadLetters
  /**
   * How long the batch may take, in milliseconds. Before it is over, what has not started is given back, and so is what is
   * still running. @default for ever
   */
  readonly timeLeftMs?: number
  /** Told of the events of this batch, besides the bus's own observer. @default none */
  readonly onEvent?: Observer
}

/** Records of one group keep their order; every other record is a group of its own. */
const groupRecords = (records: readonly IncomingRecord[]): readonly (readonly number[])[] => {
  const groups = new Map<string, number[]>()
  for (const [index, { groupId }] of records.entries()) {
    const key = groupId === undefined ? `${index}` : `group ${groupId}`
    groups.set(key, [...(groups.get(key) ?? []), index])
  }
  return [...groups.values()]
}

const between = (least: number, value: number, most: number) => Math.min(most, Math.max(least, value))

/** Nothing starts in the last tenth of the time; what runs in its last moment is given back. */
const watchTime = (clock: Clock, timeLeftMs: number | undefined) => {
  const endsAt = timeLeftMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + timeLeftMs
  const total = timeLeftMs ?? 0
  return {
    mayStart: () => clock.now() < endsAt - between(500, total / 10, 5_000),
    left: () => (timeLeftMs === undefined ? undefined : Math.max(0, endsAt - clock.now())),
    /** Resolves when it is time to answer, whatever is running, or when the work has ended. */
    watch: async (work: Promise<unknown>): Promise<void> => {
      if (timeLeftMs === undefined) return void (await work)
      let cancel = () => {}
      const over = new Promise<void>((resolve) => {
        cancel = clock.wakeAt(endsAt - between(50, total / 50, 500), resolve)
      })
      await Promise.race([work, over]).finally(() => cancel())
    },
  }
}

const NO_TIME = 'there was no time left to start it'
const STILL_RUNNING = 'its handler was still running at the end'

const checkConcurrency = (concurrency: number): void => {
  // With no worker at all every record would be acknowledged unhandled.
  if (Number.isSafeInteger(concurrency) && concurrency >= 1) return
  const rule = 'it must be an integer from 1'
  throw new PostdateError('options.invalid', { option: 'concurrency', value: String(concurrency), rule })
}

/**
 * Handles a batch of records, each on its own: one that is unreadable, unknown or whose handler fails harms no other. A
 * record is acknowledged once its handler has resolved and everything it sent is durable; or once a copy for a later attempt
 * is; or once it lies among the dead letters.
 * @returns the ids of the records to be delivered again; all others are to be acknowledged.
 * @throws PostdateError `options.invalid` when nothing could be handled at that concurrency
 */
export const handleRecords = async (
  records: readonly IncomingRecord[],
  receiver: Receiver,
  settings: BusSettings,
  doors: BusDoors,
  { concurrency = 10, deadLetters, timeLeftMs, onEvent }: ReceivingOptions = {},
): Promise<readonly string[]> => {
  checkConcurrency(concurrency)
  const time = watchTime(settings.clock, timeLeftMs)
  const observeBatch = guardObserver(onEvent, settings.logger)
  const observe: Observer = (event) => {
    settings.observe(event)
    observeBatch(event)
  }
  const policy = receiver.redelivery ?? settleRedelivery()
  const parts: HandlingParts = { settings, receiver, policy, deadLetters, observe, doors, timeLeft: time.left }
  const run: BatchRun = { isOver: false, discards: new Set() }
  const acknowledged = new Set<number>()
  const givenBack = new Set<number>()
  const started = new Set<number>()

  const giveBack = (index: number, reason: string): void => {
    const { recordId = '', attributes } = records[index] ?? {}
    givenBack.add(index)
    settings.logger.error('a message was not handled and will be delivered again', {
      recordId,
      receiver: receiver.name,
      reason,
      messageId: attributes?.messageId,
      messageName: attributes?.messageName,
    })
    observe({ type: 'given-back', recordId, receiver: receiver.name, reason })
  }

  const handleGroup = async (group: readonly number[]): Promise<void> => {
    let stopped: string | undefined
    for (const index of group) {
      const record = records[index]
      if (record === undefined || run.isOver) return
      if (stopped === undefined && !time.mayStart()) stopped = NO_TIME
      if (stopped !== undefined) {
        giveBack(index, stopped)
        continue
      }
      started.add(index)
      try {
        await handleRecord(record, parts, run)
        if (!run.isOver) acknowledged.add(index)
      } catch (error) {
        if (run.isOver) return
        giveBack(index, reasonOf(error))
        stopped = 'a record before it in its group was given back'
      }
    }
  }

  const waiting = groupRecords(records).values()
  const work = async () => {
    for (const group of waiting) await handleGroup(group)
  }
  await time.watch(Promise.all(Array.from({ length: Math.min(concurrency, records.length) }, work)))
  run.isOver = true
  for (const discard of run.discards) discard()
  for (const index of records.keys()) {
    if (!acknowledged.has(index) && !givenBack.has(index)) giveBack(index, started.has(index) ? STILL_RUNNING : NO_TIME)
  }
  return records.flatMap(({ recordId }, index) => (acknowledged.has(index) ? [] : [recordId]))
}
