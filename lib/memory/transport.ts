import { type Clock, systemClock } from '../core/clock.js'
import { consoleLogger, type Logger } from '../core/observation.js'
import { type DeadLetters, toDeadLetterWire } from '../core/redelivery/dead-letter.js'
import type { IncomingRecord, MessageSource, Publication, PublishOutcome, Transport } from '../core/transport.js'
import { ROUTE_ATTRIBUTE, toWire, type WireMessage, wireBytes } from '../core/wire.js'
import { createQueue, type MemoryQueue } from './queue.js'

/** Options of the transport in memory. */
export interface MemoryTransportOptions {
  /** Times the deliveries that failed. @default systemClock */
  readonly clock?: Clock
  /** How long a record that failed waits until it comes again, in milliseconds from 0. @default 1000 */
  readonly visibilityMs?: number
  /** After so many failed deliveries a record is dead; an integer from 1. @default 5 */
  readonly maxReceives?: number
  /** Told when a whole batch could not be handled, and of each record that is dead. @default consoleLogger */
  readonly logger?: Logger
}

/** A topic in the memory of this process, and the queues that subscribe to it. */
export interface MemoryTransport extends Transport {
  /**
   * Subscribes a queue to routes: message names, and `@<receiver>` for redeliveries. It gets what is published from now on,
   * and keeps it until it is started. The same name again is the same queue, which then has the routes of both. Its dead
   * letters are `deadRecords`.
   */
  source(name: string, routes: readonly string[]): MessageSource
  /** The records of a source that failed too often or were given up on, oldest first; the latter say why in `deadLetter`. */
  deadRecords(source: string): readonly IncomingRecord[]
}

interface Subscription {
  readonly routes: Set<string>
  readonly queue: MemoryQueue
}

/** SNS's default limits, so that what passes here passes there. @see https://docs.aws.amazon.com/general/latest/gr/sns.html */
const LIMITS = { maxMessageBytes: 262_144, maxBatchBytes: 262_144, maxBatchMessages: 10 } as const

/** The dead letters of a queue: in the form that they have in SQS. */
const deadLettersOf = (source: string, queue: MemoryQueue): DeadLetters => {
  const name = `memory:${source}`
  return {
    name,
    send: async (letter) => {
      const { body, attributes } = toDeadLetterWire(letter, LIMITS.maxMessageBytes, name)
      queue.bury({ recordId: letter.record.recordId, body, attributes: { ...attributes } })
    },
  }
}

/** Why a batch can't be taken as a whole, as SNS would refuse it; `undefined` when it can. */
const refuse = (wires: readonly WireMessage[]): string | undefined => {
  if (wires.length > LIMITS.maxBatchMessages) {
    return `the batch has ${wires.length} messages; the most is ${LIMITS.maxBatchMessages}`
  }
  const bytes = wires.reduce((sum, wire) => sum + wireBytes(wire), 0)
  return bytes > LIMITS.maxBatchBytes ? `the batch has ${bytes} bytes; the most is ${LIMITS.maxBatchBytes}` : undefined
}

/**
 * Carries messages inside this process: the default of a bus, for development and tests. Messages take the form that they
 * have on the wire, so what a receiver gets is what it would get from SNS and SQS.
 * @example
 * const transport = memoryTransport()
 * const source = transport.source('billing', ['orders/place', '@billing'])
 */
export const memoryTransport = (options: MemoryTransportOptions = {}): MemoryTransport => {
  const { clock = systemClock, visibilityMs = 1_000, maxReceives = 5, logger = consoleLogger } = options
  const subscriptions = new Map<string, Subscription>()

  const subscribe = (name: string, routes: readonly string[]): MemoryQueue => {
    const queue = subscriptions.get(name)?.queue ?? createQueue({ name, clock, logger, visibilityMs, maxReceives })
    subscriptions.set(name, { queue, routes: new Set([...(subscriptions.get(name)?.routes ?? []), ...routes]) })
    return queue
  }

  const publish = async (batch: readonly Publication[]): Promise<readonly PublishOutcome[]> => {
    const wires = batch.map(({ envelope, delivery }) => toWire(envelope, delivery))
    const reason = refuse(wires)
    if (reason !== undefined) {
      const blames = wires.length === 1 ? 'message' : 'request'
      return batch.map(() => ({ outcome: 'failed', blames, published: 'no', reason }))
    }
    for (const wire of wires) {
      for (const { routes, queue } of subscriptions.values()) {
        if (routes.has(wire.attributes[ROUTE_ATTRIBUTE] ?? '')) queue.add(wire)
      }
    }
    return batch.map(() => ({ outcome: 'published' }))
  }

  return {
    name: 'memory',
    limits: LIMITS,
    publish,
    source: (name, routes) => {
      const queue = subscribe(name, routes)
      return { name, deadLetters: deadLettersOf(name, queue), start: (onBatch) => queue.consume(onBatch) }
    },
    deadRecords: (source) => subscriptions.get(source)?.queue.dead() ?? [],
  }
}
