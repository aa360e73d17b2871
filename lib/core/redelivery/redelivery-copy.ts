import { type Envelope, utf8Bytes } from '../envelope.js'
import { canDelay } from '../persistence.js'
import type { BusSettings } from '../settings.js'
import { type ReceivedEnvelope, toWire, wireBytes } from '../wire.js'
import { type FailureHistory, fitFailure } from './failure-history.js'

/** A message to deliver again, to one receiver alone. It has no recall handle: nobody was given its first one for this. */
export interface RedeliveryCopy {
  readonly envelope: Envelope
  /** Epoch milliseconds. */
  readonly dueAt: number
  /** The receiver. */
  readonly target: string
  /** The number of the delivery to come. */
  readonly attempt: number
}

/** What a copy adds to what was received. */
export interface CopyOrder {
  readonly received: ReceivedEnvelope
  readonly receiver: string
  readonly dueAt: number
  readonly failure: FailureHistory | undefined
}

/** A row is named `<messageId>~<receiver>~<attempt>`, in a key of at most 1,024 bytes; senders in other languages may not know. */
const ROW_ID = /^[^~\p{Cc}]{1,128}$/u

const mostBytes = ({ transport, persistence }: BusSettings): number =>
  Math.min(transport.limits.maxMessageBytes, persistence.maxEnvelopeBytes ?? Number.POSITIVE_INFINITY)

/**
 * Makes the copy of a message for its next attempt: all that the message brought along, and what went wrong, cut to what the
 * limits leave. `undefined`: the limits don't even leave room for the count.
 */
export const makeCopy = (order: CopyOrder, settings: BusSettings): RedeliveryCopy | undefined => {
  const { received, receiver: target, dueAt, failure } = order
  const { failure: _, ...envelope } = received.envelope
  const attempt = received.delivery.attempt + 1
  const roomBytes = mostBytes(settings) - wireBytes(toWire(envelope, { dueAt, attempt, target }))
  if (roomBytes < 0) return undefined
  if (failure === undefined) return { envelope, dueAt, target, attempt }
  const cut = fitFailure(failure, roomBytes - utf8Bytes(',"failure":'))
  return cut === undefined ? undefined : { envelope: { ...envelope, failure: cut }, dueAt, target, attempt }
}

/** Why no copy of this message can be kept, so that only its queue can deliver it again; `undefined` when one can. */
export const whyNoCopy = (
  received: ReceivedEnvelope,
  receiver: string,
  settings: BusSettings,
  isOrdered: boolean,
): string | undefined => {
  const { persistence } = settings
  if (isOrdered) return 'its queue keeps an order'
  if (!canDelay(persistence)) return `the persistence ${persistence.name} does not keep messages until they are due`
  if (persistence.durable === false) return `the persistence ${persistence.name} is not durable`
  if (!ROW_ID.test(received.envelope.messageId)) return 'its messageId can not name a row'
  const failure = { count: Number.MAX_SAFE_INTEGER }
  const copy = makeCopy({ received, receiver, dueAt: settings.clock.now(), failure }, settings)
  return copy === undefined ? 'it leaves no room for what a redelivery adds' : undefined
}
