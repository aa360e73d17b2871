import { sleepUntil } from '../../lib/core/clock.js'
import type { HandlerContext, MessageContext } from '../../lib/core/context.js'
import { defineCommand, defineEvent, type Message } from '../../lib/core/message.js'
import type { SendOptions } from '../../lib/core/options.js'
import type { Receipt } from '../../lib/core/outbox.js'
import { defineReceiver, handlerFor, type Receiver } from '../../lib/core/receiver.js'
import type { RedeliveryOptions } from '../../lib/core/redelivery/redelivery-policy.js'
import { count } from './history.js'
import type { SimulatedProcess } from './process.js'
import { VISIBILITY_MS } from './queue.js'
import type { PlannedMessage } from './scenario.js'
import type { World } from './world.js'

const Act = defineCommand('simulation/act', 1)<{ number: string }>()
const Happened = defineEvent('simulation/happened', 1)<{ number: string }>()

/** Falsy values have to arrive as they were sent. */
const STICKY = { zero: 0, no: false, empty: '', nothing: null } as const

/** A receipt that a recall may use, with the message that it is for. */
export interface KnownReceipt {
  readonly number: string
  readonly receipt: Pick<Receipt, 'messageId' | 'dueAt' | 'recallHandle'>
}

/** Sends a planned message through a bus or a context. */
export const sendPlanned = (
  through: Pick<MessageContext, 'send' | 'publish'>,
  planned: PlannedMessage,
  schedule: { readonly deliverAt: Date } | { readonly deliverAfter: number } | Record<never, never>,
  own: { readonly messageId?: string; readonly isRoot?: boolean } = {},
): Promise<Receipt> => {
  const { number, kind } = planned
  const options: SendOptions = {
    attributes: { number },
    ...(own.messageId !== undefined && { messageId: own.messageId }),
    ...(own.isRoot && { stickyAttributes: STICKY, correlationId: `conversation-${number}` }),
    ...schedule,
  }
  const message: Message = (kind === 'command' ? Act : Happened)({ number })
  return kind === 'command' ? through.send(message, options) : through.publish(message, options)
}

const checkArrival = ({ history }: World, number: string, context: HandlerContext): void => {
  const { attributes, stickyAttributes, correlationId, messageId } = context
  const [root] = number.split('.')
  const isSame =
    attributes.number === number &&
    JSON.stringify(stickyAttributes) === JSON.stringify(STICKY) &&
    correlationId === `conversation-${root}` &&
    history.message(number).ids.has(messageId)
  if (!isSame) history.violate('unchanged', `${number} arrived as ${JSON.stringify(context)}`)
}

/** The receiver of a queue, in one process. The first queue's handlers send; those of the others only look. */
export const createSimulatedReceiver = (parts: {
  readonly world: World
  readonly process: SimulatedProcess
  readonly queue: string
  readonly sends: boolean
  readonly planned: ReadonlyMap<string, PlannedMessage>
  readonly receipts: KnownReceipt[]
  readonly redelivery: RedeliveryOptions
}): Receiver => {
  const { world, process, queue, sends, planned, receipts, redelivery } = parts
  const { history, faults, random } = world

  const sendChildren = async (message: PlannedMessage, context: HandlerContext): Promise<void> => {
    // Instants count from the message's own, so that every run of this handler asks for the same ones.
    const from = context.dueAt ?? context.sentAt
    for (const child of message.children) {
      history.message(child.number).attempts++
      const schedule =
        child.form === 'at'
          ? { deliverAt: new Date(from + child.delayMs) }
          : child.form === 'after'
            ? { deliverAfter: child.delayMs }
            : {}
      const receipt = await sendPlanned(context, child, schedule)
      if (child.isTakenBack && receipt.recallHandle !== undefined) {
        const { outcome } = await context.recall(receipt.recallHandle)
        if (outcome !== 'recalled') history.violate('truthful', `recall in the buffer answered ${outcome}`)
      } else if (receipt.recallHandle !== undefined) receipts.push({ number: child.number, receipt })
    }
  }

  const handle = async ({ number }: { readonly number: string }, context: HandlerContext): Promise<void> => {
    const message = planned.get(number)
    if (message === undefined) return history.violate('unchanged', `${number} was never planned`)
    const about = () => ({ process: process.name, messageIds: [context.messageId] })
    history.trace(process.name, () => `${queue} handles ${number}`)
    checkArrival(world, number, context)
    const slow = faults.draw('handler-slow', 0.03, about())
    const thinkMs = slow === undefined ? message.thinkMs : VISIBILITY_MS + random.integer(1, 10_000)
    if (thinkMs > 0) await sleepUntil(process.clock, process.clock.now() + thinkMs)
    if (sends) await sendChildren(message, context)
    if (message.isUnhandleable) faults.keep('handler-always-throws', about())
    if (message.isUnhandleable || faults.draw('handler-threw', 0.06, about())) throw new Error('the handler failed')
    count(history.message(number).handled, queue)
  }

  return defineReceiver(queue, [handlerFor(Act, handle), handlerFor(Happened, handle)], { redelivery })
}
