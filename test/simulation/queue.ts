import type { IncomingRecord, MessageSource } from '../../lib/core/transport.js'
import type { WireMessage } from '../../lib/core/wire.js'
import type { SimulatedProcess } from './process.js'
import { travel, type World } from './world.js'

/** One delivery of a record to a process. */
export interface Delivery {
  readonly process: SimulatedProcess
  readonly at: number
}

/** A record of a queue, with what became of it. */
export interface QueueRecord {
  readonly id: string
  readonly messageId: string
  readonly number: string
  readonly wire: WireMessage
  readonly deliveries: Delivery[]
  visibleAt: number
  isAcknowledged: boolean
}

/** A queue as SQS is: what is not acknowledged in time comes again, and some comes again all the same. */
export interface SimulatedQueue {
  readonly name: string
  readonly records: readonly QueueRecord[]
  add(messageId: string, wire: WireMessage): void
  /** Where a process receives from. */
  sourceOf(process: SimulatedProcess): MessageSource
}

interface Consumer {
  readonly process: SimulatedProcess
  readonly onBatch: (records: readonly IncomingRecord[]) => Promise<readonly string[]>
  isBusy: boolean
  isStopped: boolean
  whenIdle: () => void
}

/** How long a delivered record is not delivered again. */
export const VISIBILITY_MS = 20_000
const FAILED_AGAIN_MS = 1_000
const ASK_AGAIN_MS = 1_000
const MOST_RECORDS = 10

/** Makes an empty queue. `acknowledged` is told of every record that is done with. */
export const createSimulatedQueue = (
  world: World,
  name: string,
  acknowledged: (record: QueueRecord) => void,
): SimulatedQueue => {
  const { clock, faults, random, trace } = world
  const records: QueueRecord[] = []
  let open: QueueRecord[] = []
  let consumers: Consumer[] = []
  let isWaiting = false

  const acknowledge = (record: QueueRecord): void => {
    if (record.isAcknowledged) return
    record.isAcknowledged = true
    trace(name, () => `${record.number} is acknowledged`)
    acknowledged(record)
  }

  /** Tells the queue which records are done with. A failure of an earlier delivery than the last means nothing any more. */
  const answer = async (process: SimulatedProcess, batch: readonly QueueRecord[], failed: ReadonlySet<string>) => {
    await travel(world, { process, messageIds: [] })
    for (const record of batch) {
      const about = () => ({ process: process.name, messageIds: [record.messageId] })
      if (failed.has(record.id)) {
        if (record.deliveries.at(-1)?.process !== process) continue
        record.visibleAt = Math.min(record.visibleAt, clock.now() + FAILED_AGAIN_MS)
      } else if (faults.draw('acknowledgement-lost', 0.05, about())) continue
      else if (faults.draw('delivered-twice', 0.05, about())) record.visibleAt = clock.now() + random.integer(0, 5_000)
      else acknowledge(record)
      showAt(record.visibleAt)
    }
    open = open.filter(({ isAcknowledged }) => !isAcknowledged)
  }

  const deliver = async (consumer: Consumer, batch: readonly QueueRecord[]): Promise<void> => {
    const { process } = consumer
    consumer.isBusy = true
    for (const record of batch) {
      record.visibleAt = clock.now() + VISIBILITY_MS
      record.deliveries.push({ process, at: clock.now() })
      showAt(record.visibleAt)
    }
    trace(name, () => `delivers ${batch.map(({ number }) => number)} to ${process.name}`)
    const failed = await consumer.onBatch(batch.map(({ id, wire }) => ({ recordId: id, ...wire })))
    await process.call('acknowledge', () => answer(process, batch, new Set(failed)))
    consumer.isBusy = false
    consumer.whenIdle()
    pump()
  }

  /** A consumer that is busy pumps when it is done; one that is paused is asked again. */
  const waitForConsumer = (): void => {
    if (isWaiting || consumers.every(({ process }) => process.isRunning())) return
    isWaiting = true
    clock.wakeAt(clock.now() + ASK_AGAIN_MS, () => {
      isWaiting = false
      pump()
    })
  }

  const pump = (): void => {
    consumers = consumers.filter(({ process, isStopped }) => process.isAlive() && !isStopped)
    const free = consumers.filter(({ process, isBusy }) => process.isRunning() && !isBusy)
    if (free.length === 0) {
      waitForConsumer()
      return
    }
    const batch = open.filter(({ visibleAt, isAcknowledged }) => visibleAt <= clock.now() && !isAcknowledged)
    if (batch.length > 0) void deliver(random.pick(free), batch.slice(0, MOST_RECORDS))
  }

  /** Looks again when a record is to be seen; each look is a turn of its own. */
  const showAt = (at: number): void => {
    clock.wakeAt(Math.max(at, clock.now()), pump)
  }

  return {
    name,
    records,
    add: (messageId, wire) => {
      const id = `${name}-${records.length + 1}`
      const { number } = JSON.parse(wire.body) as { number: string }
      const record = { id, messageId, number, wire, deliveries: [], visibleAt: 0, isAcknowledged: false }
      records.push(record)
      open.push(record)
      showAt(clock.now() + random.integer(1, 20))
    },
    sourceOf: (process) => ({
      name,
      start: (onBatch) => {
        const consumer: Consumer = { process, onBatch, isBusy: false, isStopped: false, whenIdle: () => {} }
        consumers.push(consumer)
        showAt(clock.now())
        return async () => {
          consumer.isStopped = true
          if (consumer.isBusy)
            await new Promise<void>((resolve) => {
              consumer.whenIdle = resolve
            })
        }
      },
    }),
  }
}
