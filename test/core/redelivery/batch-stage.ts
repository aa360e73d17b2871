import { assembleBus } from '../../../lib/core/bus.js'
import type { BusEvent } from '../../../lib/core/observation.js'
import type { DelayingPersistence } from '../../../lib/core/persistence.js'
import { defineReceiver, type Handler, type ReceiverOptions } from '../../../lib/core/receiver.js'
import type { ReceivingOptions } from '../../../lib/core/receiving.js'
import type { DeadLetter, DeadLetters } from '../../../lib/core/redelivery/dead-letter.js'
import type { IncomingRecord } from '../../../lib/core/transport.js'
import { createVirtualClock, type VirtualClock } from '../../../lib/testing/virtual-clock.js'
import { keepLog } from '../bus-stage.js'
import { publishAll, scriptTransport } from '../dispatch/stage.js'
import { durableMemory } from './stage.js'

/** Dead letters that are kept in a list; they may be refused. */
export const keepDeadLetters = (refuse?: () => boolean): DeadLetters & { readonly letters: DeadLetter[] } => {
  const letters: DeadLetter[] = []
  return {
    name: 'kept',
    letters,
    send: async (letter) => {
      if (refuse?.()) throw new Error('the queue is down')
      letters.push(letter)
    },
  }
}

/** A record as a queue hands it out. */
export const recordOf = (
  name: string,
  message: object | string,
  attributes: Record<string, string> = {},
  recordId = 'r1',
): IncomingRecord => ({
  recordId,
  body: typeof message === 'string' ? message : JSON.stringify(message),
  attributes: { messageId: 'm1', messageName: name, kind: 'command', route: name, ...attributes },
})

/** What batches are handed to. */
export interface BatchStageOptions extends ReceiverOptions {
  /** `null`: none. @default kept */
  readonly deadLetters?: DeadLetters | null
  readonly persistence?: DelayingPersistence
  readonly clock?: VirtualClock
}

/** A bus on virtual time to which a test hands records, batch by batch. */
export const setBatches = (handlers: readonly Handler[], options: BatchStageOptions = {}) => {
  const { deadLetters = keepDeadLetters(), clock = createVirtualClock(), ...rest } = options
  const persistence = options.persistence ?? durableMemory()
  const events: BusEvent[] = []
  const log = keepLog()
  const { transport, sent } = scriptTransport(clock, publishAll)
  const bus = assembleBus({
    name: 'shop',
    transport,
    persistence,
    clock,
    logger: log.logger,
    onEvent: (event) => void events.push(event),
  })
  const receiver = defineReceiver('billing', handlers, rest)
  return {
    clock,
    persistence,
    events,
    log,
    sent,
    handle: (records: readonly IncomingRecord[], receiving: ReceivingOptions = {}) =>
      bus.handleRecords(records, receiver, { ...(deadLetters !== null && { deadLetters }), ...receiving }),
    /** The rows that wait, however long. */
    rows: async () => {
      const now = clock.now() + 10 ** 12
      return (await persistence.claimDueOutgoingMessages({ now, dueBefore: now, limit: 1_000, leaseMs: 1 })).claims
    },
  }
}
