import { isPostdateError, reasonOf } from '../../lib/core/errors.js'
import type { Receipt } from '../../lib/core/outbox.js'
import { type KnownReceipt, sendPlanned } from './handlers.js'
import { keyOf, lifeOf } from './history.js'
import type { Host } from './host.js'
import type { SimulatedProcess } from './process.js'
import type { PlannedMessage, Scenario } from './scenario.js'
import type { World } from './world.js'

/** Code that was started in a process and may not have ended. */
export interface Errand {
  readonly process: SimulatedProcess
  isDone: boolean
}

const MOST_ATTEMPTS = 4
const MOST_RECALLS = 3

/** Runs the sends and recalls of a scenario from whichever host is running. Answers the errands, which grow as time passes. */
export const startSenders = (parts: {
  readonly world: World
  readonly scenario: Scenario
  readonly hosts: readonly Host[]
  readonly receipts: KnownReceipt[]
}): readonly Errand[] => {
  const { world, scenario, hosts, receipts } = parts
  const { clock, random, history, faults } = world
  const errands: Errand[] = []

  /** The errand's own timer, which the process is not asked to clear away. */
  const sleep = (process: SimulatedProcess, ms: number): Promise<void> =>
    new Promise((resolve) => {
      clock.wakeAt(clock.now() + ms, () => process.receive(resolve))
    })

  /** An error is only for a reason. */
  const checkReason = (process: SimulatedProcess, since: number, number: string, error: unknown): void => {
    const struck = faults.log.filter((fault) => fault.process === process.name)
    const isExplained =
      struck.some(({ at }) => at >= since) ||
      (isPostdateError(error, 'transport.unavailable') && scenario.topicDown !== undefined) ||
      (isPostdateError(error, 'bus.stopped') && struck.some(({ kind }) => kind === 'stopped')) ||
      (isPostdateError(error, 'message.recalled') && history.message(number).isKeptAway)
    if (!isExplained) history.violate('errors', `${number} met an error without a fault: ${reasonOf(error)}`)
  }

  const checkDurable = (number: string, { status, messageId, dueAt }: Receipt): void => {
    const isThere =
      status === 'scheduled'
        ? dueAt !== undefined && history.rows.has(keyOf({ shard: 0, dueAt, rowId: messageId }))
        : history.message(number).immediate.length > 0
    if (!isThere) history.violate('durable', `${number} was called ${status}, and is nowhere`)
  }

  const send = async (host: Host, planned: PlannedMessage): Promise<void> => {
    const process = host.process()
    const { number, form, delayMs, hasOwnId } = planned
    const record = history.message(number)
    const messageId = hasOwnId ? `own-${number}` : undefined
    let schedule =
      form === 'at'
        ? { deliverAt: new Date(process.clock.now() + delayMs) }
        : form === 'after'
          ? { deliverAfter: delayMs }
          : {}
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
      const since = clock.now()
      record.attempts++
      history.trace(process.name, () => `sends ${number} ${JSON.stringify(schedule)}`)
      try {
        const own = { isRoot: true, ...(messageId !== undefined && { messageId }) }
        const receipt = await sendPlanned(host.bus(), planned, schedule, own)
        checkDurable(number, receipt)
        if (receipt.recallHandle !== undefined) receipts.push({ number, receipt })
        return
      } catch (error) {
        history.trace(process.name, () => `send of ${number} failed: ${reasonOf(error)}`)
        checkReason(process, since, number, error)
        const receipt = isPostdateError(error) ? error.details.receipt : undefined
        if (receipt?.recallHandle !== undefined) receipts.push({ number, receipt })
        if (!hasOwnId || !isPostdateError(error) || !error.retryable) return
        // As the error's help says: again under the same id and for the same time.
        if (receipt?.dueAt !== undefined) schedule = { deliverAt: new Date(receipt.dueAt) }
        await sleep(process, random.integer(100, 3_000))
      }
    }
  }

  /** Any receipt, or one whose row is still there: of those the answer is the hardest. */
  const pickReceipt = (): KnownReceipt => {
    const there = receipts.filter(({ receipt: { dueAt = 0, messageId } }) => {
      const state = lifeOf(history.row({ shard: 0, dueAt, rowId: messageId }))?.state
      return state === 'waiting' || state === 'held'
    })
    return random.pick(there.length > 0 && random.chance(0.5) ? there : receipts)
  }

  const recall = async (host: Host): Promise<void> => {
    const process = host.process()
    const { number, receipt } = pickReceipt()
    const { recallHandle = '', dueAt = 0, messageId } = receipt
    for (let attempt = 1; attempt <= MOST_RECALLS; attempt++) {
      const since = clock.now()
      try {
        const { outcome } = await host.bus().recall(recallHandle)
        history.trace(process.name, () => `learns that the recall of ${number} is ${outcome}`)
        const row = history.row({ shard: 0, dueAt, rowId: messageId })
        if (outcome === 'not-found' && row?.lives.some(({ publishes }) => publishes.length > 0))
          history.violate('truthful', `recall of ${number} answered not-found, and it had been published`)
        return
      } catch (error) {
        checkReason(process, since, number, error)
        await sleep(process, random.integer(100, 3_000))
      }
    }
  }

  /** Picks a host that runs and does something there. */
  const at = (afterMs: number, act: (host: Host) => Promise<void>): void => {
    clock.wakeAt(clock.now() + afterMs, () => {
      const running = hosts.filter((host) => host.process().isRunning())
      if (running.length === 0) return
      const host = random.pick(running)
      const errand: Errand = { process: host.process(), isDone: false }
      errands.push(errand)
      void act(host).then(() => {
        errand.isDone = true
      })
    })
  }

  for (const { afterMs, message } of scenario.sends) at(afterMs, (host) => send(host, message))
  for (const afterMs of scenario.recalls)
    at(afterMs, async (host) => {
      if (receipts.length > 0) await recall(host)
    })
  return errands
}
