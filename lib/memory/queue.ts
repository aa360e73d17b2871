import type { Clock } from '../core/clock.js'
import { reasonOf } from '../core/errors.js'
import type { Logger } from '../core/observation.js'
import type { IncomingRecord } from '../core/transport.js'
import type { WireMessage } from '../core/wire.js'

/** How a queue in memory behaves. */
export interface QueueSettings {
  readonly name: string
  readonly clock: Clock
  readonly logger: Logger
  /** How long a record that failed stays hidden, in milliseconds. */
  readonly visibilityMs: number
  /** A record that failed so many times is dead. */
  readonly maxReceives: number
}

/** Handles records; answers the ids of those that failed. */
export type BatchHandler = (records: readonly IncomingRecord[]) => Promise<readonly string[]>

/** A queue in memory: what is not acknowledged comes again. */
export interface MemoryQueue {
  add(message: WireMessage): void
  /** Starts one more consumer, which takes a batch at a time. @returns a function that stops it. */
  consume(onBatch: BatchHandler): () => Promise<void>
  /** Adds a record to the dead ones. */
  bury(record: IncomingRecord): void
  /** The records that failed too often or were given up on, oldest first. */
  dead(): readonly IncomingRecord[]
}

interface Waiting {
  readonly record: IncomingRecord
  receives: number
  visibleAt: number
}

interface Consumer {
  wake(): void
}

/** As SQS: the most records that one receive hands out. */
const MOST_RECORDS = 10

/** Makes an empty queue. */
export const createQueue = (settings: QueueSettings): MemoryQueue => {
  const { name, clock, logger, visibilityMs, maxReceives } = settings
  const ready: Waiting[] = []
  /** Failed a moment ago. All are hidden for the same time, so the first to fail is the first to be seen again. */
  const hidden: Waiting[] = []
  const dead: IncomingRecord[] = []
  const consumers = new Set<Consumer>()
  let added = 0
  let cancelTimer: (() => void) | undefined

  const showAgain = () => {
    cancelTimer?.()
    cancelTimer = undefined
    const now = clock.now()
    while (hidden[0] !== undefined && hidden[0].visibleAt <= now) ready.push(...hidden.splice(0, 1))
    for (const consumer of consumers) consumer.wake()
    if (hidden[0] !== undefined && consumers.size > 0) cancelTimer = clock.wakeAt(hidden[0].visibleAt, showAgain)
  }

  const handle = async (batch: readonly Waiting[], onBatch: BatchHandler): Promise<ReadonlySet<string>> => {
    try {
      return new Set(await onBatch(batch.map(({ record }) => record)))
    } catch (error) {
      logger.error('a batch of records was not handled and will be delivered again', {
        source: name,
        reason: reasonOf(error),
      })
      return new Set(batch.map(({ record }) => record.recordId))
    }
  }

  /** Nobody looks at the dead records of a queue in memory by themselves. Payloads are not logged. */
  const giveUp = ({ record, receives }: Waiting) => {
    dead.push(record)
    logger.warn('a message failed too often and is not delivered again; it is among the dead records of its queue', {
      source: name,
      recordId: record.recordId,
      receives,
      messageId: record.attributes.messageId,
      messageName: record.attributes.messageName,
    })
  }

  const answer = (batch: readonly Waiting[], failed: ReadonlySet<string>) => {
    for (const waiting of batch) {
      if (!failed.has(waiting.record.recordId)) continue
      if (waiting.receives >= maxReceives) giveUp(waiting)
      else {
        waiting.visibleAt = clock.now() + visibilityMs
        hidden.push(waiting)
      }
    }
    showAgain()
  }

  return {
    add: ({ body, attributes }) => {
      const record = { recordId: `${name}-${++added}`, body, attributes: { ...attributes } }
      ready.push({ record, receives: 0, visibleAt: 0 })
      for (const consumer of consumers) consumer.wake()
    },
    bury: (record) => {
      dead.push(record)
    },
    dead: () => dead,
    consume: (onBatch) => {
      let isStopped = false
      let isWorking = false
      let work = Promise.resolve()
      const handleAll = async () => {
        // Whoever published goes on first; it never runs a handler itself.
        await Promise.resolve()
        while (!isStopped && ready.length > 0) {
          const batch = ready.splice(0, MOST_RECORDS)
          for (const waiting of batch) waiting.receives++
          answer(batch, await handle(batch, onBatch))
        }
        isWorking = false
      }
      const consumer: Consumer = {
        wake: () => {
          if (isWorking || isStopped || ready.length === 0) return
          isWorking = true
          work = handleAll()
        },
      }
      consumers.add(consumer)
      showAgain()
      return async () => {
        isStopped = true
        consumers.delete(consumer)
        await work
        if (consumers.size === 0) cancelTimer?.()
      }
    },
  }
}
