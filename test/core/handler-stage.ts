import type { Bus } from '../../lib/core/bus.js'
import type { HandlerContext } from '../../lib/core/context.js'
import { defineReceiver, handlerFor } from '../../lib/core/receiver.js'
import type { IncomingRecord } from '../../lib/core/transport.js'
import { toWire } from '../../lib/core/wire.js'
import { RemindPayment } from './bus-stage.js'
import { envelopeOf } from './dispatch/stage.js'

/** A command of the tests. */
export const remind = (orderId: string) => RemindPayment({ orderId })

/** A record as a queue hands it out, with a command that `handleWith` handles. */
export const recordOf = (messageId: string, part: Partial<Parameters<typeof toWire>[0]> = {}): IncomingRecord => {
  const body = JSON.stringify(remind('42'))
  const wire = toWire({ ...envelopeOf(messageId, body), ...part }, { attempt: 1, dueAt: 1 })
  return { recordId: `record of ${messageId}`, ...wire }
}

/** Handles one record with one handler, as a receiver in a Lambda does. */
export const handleWith = (
  bus: Bus,
  handle: (ctx: HandlerContext) => unknown,
  records = [recordOf('incoming')],
  receiver = 'billing',
) => bus.handleRecords(records, defineReceiver(receiver, [handlerFor(RemindPayment, (_message, ctx) => handle(ctx))]))
