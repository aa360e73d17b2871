import { createAnnounce } from './announcing.js'
import { type ContextOrigin, type OpenContext, openContext, type RecallResult } from './context.js'
import { createDispatcher, type Dispatcher } from './dispatch/dispatcher.js'
import { PostdateError } from './errors.js'
import type { Message, MessageKind } from './message.js'
import type { SendOptions } from './options.js'
import { createOutbox, type Receipt, receiptOf } from './outbox.js'
import { canDelay, type Persistence } from './persistence.js'
import { createRecall, createRecallByKey, type KeyRecallResult } from './recalling.js'
import type { Receiver } from './receiver.js'
import { handleRecords, type ReceivingOptions } from './receiving.js'
import { createRescheduling, type RescheduleResult, type When } from './rescheduling.js'
import { deliverAll, prepareAll, type SendEntry, type SendOutcome } from './send-all.js'
import { type BusOptions, type BusSettings, settleOptions } from './settings.js'
import type { IncomingRecord } from './transport.js'

/** Sends messages now or later, and takes them back. */
export interface Bus {
  readonly name: string
  readonly persistence: Persistence
  /**
   * Sends a command. Resolves when it is published, or when its row is durable.
   * @throws PostdateError of the codes `message.*`, `schedule.*`, `options.unknown`, `persistence.*`, `transport.*`,
   * `bus.stopped`; what failed unsure carries its receipt in `details.receipt`
   * @example
   * const { recallHandle } = await bus.send(RemindPayment({ orderId }), { deliverAfter: { days: 3 } })
   */
  send(command: Message, options?: SendOptions): Promise<Receipt>
  /** Publishes an event; otherwise as `send`. */
  publish(event: Message, options?: SendOptions): Promise<Receipt>
  /**
   * Sends many commands, each with options of its own, in as few requests as the limits allow. One outcome per message, in
   * order; a message that fails harms no other.
   * @throws PostdateError `bus.stopped`, `options.invalid` when it is no list
   * @example
   * const outcomes = await bus.sendAll(orders.map(({ id, endsAt }) => ({ message: EndTrial({ id }), deliverAt: endsAt })))
   * const failed = outcomes.filter(({ status }) => status === 'failed')
   */
  sendAll(commands: readonly SendEntry[]): Promise<readonly SendOutcome[]>
  /** Publishes many events; otherwise as `sendAll`. */
  publishAll(events: readonly SendEntry[]): Promise<readonly SendOutcome[]>
  /**
   * Withdraws a scheduled message, from any process. Answers truthfully: claim and recall compare and swap one register.
   * @throws PostdateError `recall.malformed-handle`, `recall.other-bus`, `recall.switched-off`, `recall.window-closed`,
   * `persistence.*`
   */
  recall(recallHandle: string): Promise<RecallResult>
  /**
   * Withdraws the message that is scheduled under a key, and frees the key.
   * @throws PostdateError `options.invalid`, `recall.switched-off`, `recall.window-closed`, `persistence.*`
   * @example
   * await bus.send(RemindPayment({ invoice }), { deliverAfter: { days: 14 }, key: `invoice-${invoice}` })
   * await bus.recallByKey(`invoice-${invoice}`) // from anywhere, when it was paid
   */
  recallByKey(key: string): Promise<KeyRecallResult>
  /**
   * Delivers a scheduled message at another time, sooner or later. Never twice and never not at all: one write of the register
   * that claims and recalls swap too moves it. Its old handles and its new one lead to it. A time that has passed is now.
   * @throws PostdateError `recall.malformed-handle`, `recall.other-bus`, `schedule.*`, `options.*`, `persistence.*`
   * @example
   * const { outcome, dueAt } = await bus.reschedule(recallHandle, { deliverAfter: { days: 7 } })
   */
  reschedule(recallHandle: string, when: When): Promise<RescheduleResult>
  /** Delivers a scheduled message as soon as possible; otherwise as `reschedule`. */
  deliverNow(recallHandle: string): Promise<RescheduleResult>
  /** Opens a context whose sends go out when it is flushed: what `injectBus` gives to a function. */
  openContext(origin?: ContextOrigin): OpenContext
  /** Handles records of a queue; answers the ids of those that failed. What a receiver in a Lambda is made of. */
  handleRecords(
    records: readonly IncomingRecord[],
    receiver: Receiver,
    options?: ReceivingOptions,
  ): Promise<readonly string[]>
  /**
   * For hosts that keep running: receives, and dispatches what is due (unless `sendOnly`), until `stop`. Several instances on
   * one store share the work.
   * @throws PostdateError `bus.started-twice`, `bus.stopped`
   */
  start(): Promise<void>
  /** Stops receiving, waits for what is in flight, and gives the rest back. Sends after it are errors. */
  stop(): Promise<void>
}

type Stop = () => Promise<void>

/** Runs all of them to their end, whatever one throws. */
const stopAll = async (stops: readonly Stop[]): Promise<readonly unknown[]> => {
  const results = await Promise.allSettled(stops.map(async (stop) => stop()))
  return results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
}

const startDispatching = (dispatcher: Dispatcher): Stop => {
  const stopping = new AbortController()
  const ended = dispatcher.run({ signal: stopping.signal })
  return async () => {
    stopping.abort()
    await ended
  }
}

const dispatcherOf = (settings: BusSettings): Dispatcher | undefined => {
  const { persistence, sendOnly } = settings
  if (sendOnly || !canDelay(persistence)) return undefined
  return createDispatcher({ ...settings.dispatch, ...settings, persistence })
}

/**
 * Makes a bus of a transport and a persistence. `createBus` of the package does the same with both defaulting to memory.
 * @throws PostdateError `options.invalid`
 */
export const assembleBus = (options: BusOptions): Bus => {
  const settings = settleOptions(options)
  const { name, persistence, ids } = settings
  const dispatcher = dispatcherOf(settings)
  const announce = createAnnounce(settings, (dueAt) => dispatcher?.expect(dueAt))
  const outbox = createOutbox(settings, announce)
  const recall = createRecall(settings)
  const recallByKey = createRecallByKey(settings)
  const rescheduling = createRescheduling(settings, announce)
  const sending = new Set<Promise<unknown>>()
  let state: 'new' | 'started' | 'stopped' = 'new'
  const receiving: Stop[] = []
  const dispatching: Stop[] = []
  let stopped: Promise<void> | undefined

  const checkUsable = (attempted: string): void => {
    if (state === 'stopped') throw new PostdateError('bus.stopped', { bus: name, attempted })
  }

  const prepare = (kind: MessageKind, message: Message, sendOptions: object) => {
    const makeId = () => ids.messageId()
    const { requireDurable } = settings
    return outbox.prepare({ kind, message, options: sendOptions, inherited: {}, makeId, requireDurable })
  }

  const sendOne = async (kind: MessageKind, message: Message, sendOptions: SendOptions): Promise<Receipt> => {
    const prepared = await prepare(kind, message, sendOptions)
    const [result] = await outbox.deliver([prepared], 'own')
    if (result?.ok === false) throw result.error
    return result?.receipt ?? receiptOf(prepared, 'done')
  }

  const sendMany = async (kind: MessageKind, entries: readonly SendEntry[]) =>
    deliverAll(await prepareAll(entries, (message, sendOptions) => prepare(kind, message, sendOptions)), outbox)

  /** Does what sends, unless the bus was stopped; `stop` waits for it. */
  const whileUsable = async <T>(kind: MessageKind, doWork: () => Promise<T>): Promise<T> => {
    checkUsable(`a ${kind} was sent`)
    const work = doWork()
    sending.add(work)
    try {
      return await work
    } finally {
      sending.delete(work)
    }
  }

  const stop = async (): Promise<void> => {
    state = 'stopped'
    // Handlers that are running may still send through their contexts, so receiving ends before anything else does.
    const failures = await stopAll(receiving)
    await Promise.allSettled(sending)
    // What a receiver could not end must not keep rows leased.
    const [failure] = [...failures, ...(await stopAll(dispatching))]
    if (failure !== undefined) throw failure
  }

  const start = async (): Promise<void> => {
    checkUsable('start()')
    if (state === 'started') throw new PostdateError('bus.started-twice', { bus: name })
    state = 'started'
    if (settings.sendOnly) return
    try {
      for (const { receiver, source } of settings.receivers) {
        const options = source.deadLetters === undefined ? {} : { deadLetters: source.deadLetters }
        receiving.push(source.start((records) => bus.handleRecords(records, receiver, options)))
      }
    } catch (error) {
      // One source that can't start must not leave the others running in a bus that seems not to.
      stopped ??= stop()
      await stopped.catch(() => {})
      throw error
    }
    if (dispatcher !== undefined) dispatching.push(startDispatching(dispatcher))
  }

  const bus: Bus = {
    name,
    persistence,
    send: (command, sendOptions = {}) => whileUsable('command', () => sendOne('command', command, sendOptions)),
    publish: (event, sendOptions = {}) => whileUsable('event', () => sendOne('event', event, sendOptions)),
    sendAll: (commands) => whileUsable('command', () => sendMany('command', commands)),
    publishAll: (events) => whileUsable('event', () => sendMany('event', events)),
    recall,
    recallByKey,
    ...rescheduling,
    openContext: (origin = {}) => openContext(origin, outbox, settings, { recall, recallByKey }),
    handleRecords: (records, receiver, receiving) =>
      handleRecords(records, receiver, settings, { open: bus.openContext, redeliver: outbox.redeliver }, receiving),
    start,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
  return bus
}
