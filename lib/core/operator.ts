import { createAnnounce } from './announcing.js'
import { checkKnown } from './check-known.js'
import { describeValue } from './describe-value.js'
import { PostdateError } from './errors.js'
import { formatHandle } from './handle.js'
import type { DeadRow, Inspection, ListedRow, PeekedRow, PutBackOutcome, ReadCost } from './inspection.js'
import { acceptorOf, FILTER_PARTS, type MessageFilter, windowOf } from './message-filter.js'
import type { PauseState, Persistence, RowAddress } from './persistence.js'
import { type BulkRecallOptions, type BulkRecallResult, recallMany } from './recall-many.js'
import { askStore, readOwnHandle } from './recalling.js'
import { readWhen, type When } from './rescheduling.js'
import { type BusOptions, type BusSettings, settleOptions } from './settings.js'
import type { Transport } from './transport.js'

/** What an operator works on: the same as the bus whose messages they are. */
export type OperatorOptions = Pick<BusOptions, 'name' | 'persistence' | 'clock' | 'wakeHint' | 'logger'>

/** A message as an operator sees it, without its content. */
export interface ListedMessage extends ListedRow {
  readonly messageId: string
  /** Absent for a copy that is for one receiver. */
  readonly recallHandle?: string
}

/** A message with its content. */
export type PeekedMessage = PeekedRow & Pick<ListedMessage, 'messageId' | 'recallHandle'>

/** Which messages to list, and how many. */
export type ListOptions = MessageFilter & {
  /** The most messages to answer. @default 100 */
  readonly limit?: number
  /** Where the last page ended. @default at the beginning */
  readonly cursor?: string
}

/** Looks at what is scheduled, and does something about what was given up on. For people and their tools, not for handlers. */
export interface Operator {
  /** Messages that wait or are being delivered, in the order of their due instants. Every row in the window is read and paid for. */
  list(options?: ListOptions): Promise<{ readonly messages: readonly ListedMessage[]; readonly cursor?: string }>
  /** What reading all rows of a window would cost. */
  estimate(filter?: MessageFilter): Promise<ReadCost>
  /** A message by its handle, wherever it was moved, dead or recalled; `undefined` if it is gone. */
  peek(recallHandle: string): Promise<PeekedMessage | undefined>
  /**
   * Withdraws all messages that a filter accepts; it may be stopped, and run again.
   * @throws PostdateError `operator.empty-filter` for a filter that says only when
   * @example
   * await operator.recallMany({ keyPrefix: 'invoice-', dueBefore: new Date('2031-01-01') }, { confirm: ({ rows }) => rows < 1e6 })
   */
  recallMany(filter: MessageFilter, options?: BulkRecallOptions): Promise<BulkRecallResult>
  /** What was given up on, oldest first. @param limit the most to answer. @default 100 */
  listDead(limit?: number): Promise<readonly DeadRow[]>
  /** Lets a dead message wait again, without its failures. @param when @default now */
  putBack(dead: RowAddress | string, when?: When): Promise<PutBackOutcome>
  /** Removes a dead message for good. Answers whether there was one. */
  purge(dead: RowAddress | string): Promise<boolean>
  /** Dispatches nothing until `resume`: within five seconds, everywhere. What waits stays, and can be taken back and moved. */
  pause(): Promise<PauseState>
  /** Dispatches again, what fell due meanwhile first. A scheduled dispatcher begins with its next tick. */
  resume(): Promise<PauseState>
}

/** An operator publishes nothing. */
const noTransport: Transport = {
  name: 'none',
  limits: { maxMessageBytes: 1, maxBatchBytes: 1, maxBatchMessages: 1 },
  publish: async (batch) =>
    batch.map(() => ({ outcome: 'failed', blames: 'topic', published: 'no', reason: 'there is no transport' })),
}

const MOST_TRIES = 10

const inspectionOf = ({ name, inspection }: Persistence): Inspection => {
  if (inspection !== undefined) return inspection
  throw new PostdateError('persistence.inspection-not-supported', { persistence: name })
}

const changePause = async (settings: BusSettings, paused: boolean): Promise<PauseState> => {
  const { name, coordination } = settings.persistence
  if (coordination?.readPause === undefined || coordination.setPause === undefined)
    throw new PostdateError('persistence.pause-not-supported', { persistence: name })
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const seen = await askStore(settings, 'read the pause', async () => coordination.readPause?.())
    if (seen?.paused === paused) return seen
    const next = { paused, version: (seen?.version ?? 0) + 1 }
    if (await askStore(settings, 'change the pause', async () => coordination.setPause?.(next))) return next
  }
  const reason = `others changed it ${MOST_TRIES} times meanwhile`
  throw new PostdateError('persistence.unavailable', { persistence: name, operation: 'change the pause', reason })
}

/**
 * Makes an operator of the store that a bus works on.
 * @throws PostdateError `options.invalid`, `options.unknown`, `persistence.inspection-not-supported`
 * @example
 * const operator = createOperator({ name: 'orders', persistence: dynamoDbPersistence({ tableName }) })
 * const { messages } = await operator.list({ name: 'payments/remind', dueBefore: new Date(Date.now() + 3_600_000) })
 */
export const createOperator = (options: OperatorOptions): Operator => {
  const settings = settleOptions({ ...options, transport: noTransport })
  const { name: bus, clock } = settings
  const inspection = inspectionOf(settings.persistence)
  const announce = createAnnounce(settings, () => {})

  const named = <R extends ListedRow>(row: R): R & Pick<ListedMessage, 'messageId' | 'recallHandle'> => {
    const [messageId = row.rowId] = row.rowId.split('~')
    return { ...row, messageId, ...(row.target === undefined && { recallHandle: formatHandle({ bus, ...row }) }) }
  }
  const addressOf = (dead: RowAddress | string): RowAddress =>
    typeof dead === 'string' ? readOwnHandle(dead, settings) : dead

  return {
    list: async (filter = {}) => {
      checkKnown(filter, [...FILTER_PARTS, 'limit', 'cursor'])
      const { limit = 100, cursor } = filter
      if (!Number.isSafeInteger(limit) || limit < 1)
        throw new PostdateError('options.invalid', {
          option: 'limit',
          value: describeValue(limit),
          rule: 'it must be an integer from 1',
        })
      const accepts = acceptorOf(filter)
      const page = await askStore(settings, 'list messages', () =>
        inspection.list({
          ...windowOf(filter),
          now: clock.now(),
          limit,
          accepts: (row) => row.state !== 'recalled' && accepts(row),
          ...(cursor !== undefined && { cursor }),
        }),
      )
      return { messages: page.rows.map(named), ...(page.cursor !== undefined && { cursor: page.cursor }) }
    },
    estimate: async (filter = {}) => {
      checkKnown(filter, FILTER_PARTS)
      return askStore(settings, 'estimate a list', () => inspection.estimate(windowOf(filter)))
    },
    peek: async (recallHandle) => {
      const address = readOwnHandle(recallHandle, settings)
      const found = await askStore(settings, 'peek at a message', () => inspection.peek(address, clock.now()))
      return found === undefined ? undefined : named(found)
    },
    recallMany: async (filter, bulk = {}) => {
      checkKnown(filter, FILTER_PARTS)
      return recallMany(settings, inspection, filter, bulk)
    },
    listDead: (limit = 100) => askStore(settings, 'list dead messages', () => inspection.listDead(limit)),
    putBack: async (dead, when) => {
      const [address, now] = [addressOf(dead), clock.now()]
      const dueAt = when === undefined ? now : readWhen(when, address.rowId, now, settings)
      const found = await askStore(settings, 'put a dead message back', () => inspection.putBack(address, dueAt, now))
      if (found.outcome === 'put-back') await announce([found.address])
      return found
    },
    purge: async (dead) => askStore(settings, 'purge a dead message', () => inspection.purge(addressOf(dead))),
    pause: () => changePause(settings, true),
    resume: () => changePause(settings, false),
  }
}
