import type { Envelope } from './envelope.js'
import type { DeadLetters } from './redelivery/dead-letter.js'
import type { Delivery, WireMessage } from './wire.js'

/** A message to publish now. */
export interface Publication {
  readonly envelope: Envelope
  readonly delivery: Delivery
}

/**
 * What became of one publication.
 *
 * `blames` is the scope of a failure: `message` (this one is refused and will be again), `request` (refused whole as invalid;
 * each message may be tried alone), `passing` (this one failed for now), `topic` (none gets through: throttled, down, not
 * permitted, missing key). `published` tells whether it may have gone out all the same.
 */
export type PublishOutcome =
  | { readonly outcome: 'published' }
  | {
      readonly outcome: 'failed'
      readonly blames: 'message' | 'request' | 'passing' | 'topic'
      readonly published: 'no' | 'perhaps'
      readonly reason: string
    }

/** Limits that the transport sets, in bytes and messages. */
export interface TransportLimits {
  /** The largest message, attributes counted. */
  readonly maxMessageBytes: number
  /** The largest batch, attributes counted. */
  readonly maxBatchBytes: number
  /** The most messages in a batch. */
  readonly maxBatchMessages: number
}

/** Carries messages to whoever receives them. */
export interface Transport {
  readonly name: string
  readonly limits: TransportLimits
  /** Publishes one batch, within the limits, in one request and without a retry. One outcome per message, in order; never throws. */
  publish(batch: readonly Publication[]): Promise<readonly PublishOutcome[]>
}

/** One record as a queue hands it out. */
export interface IncomingRecord extends WireMessage {
  /** The queue's own id for this record, by which a failure is reported. */
  readonly recordId: string
  /** Of a queue that keeps an order: records of one group are handled one after another. Absent on standard queues. */
  readonly groupId?: string
}

/** Where a started bus receives from. */
export interface MessageSource {
  readonly name: string
  /** Where records go that are given up on. @default none: the queue's redrive policy decides */
  readonly deadLetters?: DeadLetters
  /**
   * Starts to receive. `onBatch` answers the ids of the records that failed; all others are acknowledged.
   * @returns a function that stops receiving and resolves when what was received is handled and answered.
   */
  start(onBatch: (records: readonly IncomingRecord[]) => Promise<readonly string[]>): () => Promise<void>
}

/**
 * A hint is worth sending for what is due within this, in milliseconds, and a dispatcher stays awake while anything is:
 * two ticks of a one-minute schedule, which run from 1 to 119 s apart, and some. Later rows are found by a tick.
 */
export const HINT_WITHIN_MS = 130_000

/** Tells a sleeping dispatcher that a row of a shard falls due soon. A failed hint never fails a send. */
export type WakeHint = (hint: { readonly shard: number; readonly dueAt: number; readonly now: number }) => Promise<void>
