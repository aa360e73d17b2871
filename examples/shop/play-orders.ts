import { type SendOptions, sleepUntil, systemClock } from '../../lib/index.js'
import type { LocalCloud } from '../../lib/local.js'
import { type Form, forms } from '../first-delivery/forms.js'
import type { Line } from '../first-delivery/lines.js'
import { expectedOf } from '../first-delivery/summary.js'
import { keyOf, readHandled } from './read-invocations.js'
import { connectRecall } from './take-back.js'

const ORDERS = 20
const ORDER_EVERY_MS = 250
/** Two seconds ahead and more, so that the lateness counts. */
const REMIND_AFTER_MS = 2_500
const CANCEL_AFTER_MS = 4_000
/** The last cancellation is due 4 s after its order; this is far more. */
const GIVE_UP_AFTER_MS = 25_000
const WATCH_FOR_DUPLICATES_MS = 2_000
/** Before a dispatcher claims a cancellation, which it does about a second ahead. */
const PAID_AFTER_MS = 2_000

interface Receipt {
  readonly status: string
  readonly dueAt?: number
  readonly recallHandle?: string
}

/** A message that was promised. */
interface Promised {
  readonly number: number
  readonly key: string
  readonly recallHandle: string
}

interface PlacedOrder {
  readonly orderId: string
  readonly reminder: Receipt
  readonly cancellation: Receipt
}

const PLACED = { form: 'order placed, published at once', asks: (now: number) => now }
const REMINDER: Form = {
  form: 'payment reminder',
  options: (now) => ({ deliverAt: new Date(now + REMIND_AFTER_MS) }),
  asks: (now) => now + REMIND_AFTER_MS,
}
const CANCELLATION = { form: 'cancellation', asks: (now: number) => now + CANCEL_AFTER_MS }

/** When to remind, as the function's event has it: a Date goes as text, all other forms as they are. */
const asJson = (options: SendOptions) =>
  options.deliverAt instanceof Date ? { remindAt: options.deliverAt.toISOString() } : { remind: options }

/** Places orders by calling the orders function, and tells of each message that is to come of it, and of each that came. */
export const playOrders = async (
  cloud: LocalCloud,
  progress: (text: string) => void,
  onLine: (line: Line) => void,
): Promise<void> => {
  const lines: Line[] = []
  let number = 0
  const tell = (line: Line) => {
    lines.push(line)
    onLine(line)
  }
  const promise = (key: string, { form, asks }: Omit<Form, 'options'>, sentAt: number, receipt: Receipt): Promised => {
    const { status, dueAt, recallHandle = '' } = receipt
    number++
    const askedAt = asks(sentAt)
    const about = {
      number,
      form,
      messageId: key,
      status,
      isAtOnce: dueAt === undefined,
      askedAt,
      dueAt: dueAt ?? sentAt,
    }
    tell({ event: 'scheduled', ...about, aheadMs: askedAt - sentAt })
    return { number, key, recallHandle }
  }

  const place = async (orderId: string, reminderForm: Form = REMINDER) => {
    const sentAt = systemClock.now()
    const cancelAt = new Date(CANCELLATION.asks(sentAt)).toISOString()
    const order = { orderId, cancelAt, ...asJson(reminderForm.options(sentAt)) }
    const { outcome, payload, error } = await cloud.invoke('PostdateExample/Orders', order)
    if (outcome !== 'ok')
      throw new Error(`the orders function did not place ${orderId}: ${error?.errorMessage ?? outcome}`)
    const { reminder, cancellation } = payload as PlacedOrder
    promise(keyOf('shop/order-placed', orderId), PLACED, sentAt, { status: 'sent' })
    return {
      reminder: promise(keyOf('shop/remind-payment', orderId), reminderForm, sentAt, reminder),
      cancellation: promise(keyOf('shop/cancel-order', orderId), CANCELLATION, sentAt, cancellation),
    }
  }

  let told = 0
  /** Tells of what the billing function has handled since the last call. */
  const tellArrivals = () => {
    const handled = cloud.invocations('PostdateExample/BillingFunction').flatMap(readHandled)
    for (const { key, receivedAt } of handled.slice(told)) {
      const expected = lines.find((line) => line.event === 'scheduled' && line.messageId === key)
      const about = expected?.event === 'scheduled' ? expected : { number: 0, form: 'not expected' }
      tell({
        event: 'received',
        number: about.number,
        form: about.form,
        messageId: key,
        receivedAt,
        process: 'billing',
      })
    }
    told = handled.length
  }
  const isReceived = () => {
    const arrived = new Set(lines.flatMap((line) => (line.event === 'received' ? [line.messageId] : [])))
    return expectedOf(lines).every(({ messageId }) => arrived.has(messageId))
  }
  const watch = async (untilAt: number, isDone: () => boolean) => {
    while (systemClock.now() < untilAt && !isDone()) {
      await sleepUntil(systemClock, systemClock.now() + 100)
      tellArrivals()
    }
  }

  const isHere = (key: string) => lines.some((line) => line.event === 'received' && line.messageId === key)
  const wait = (ms: number, isDone = () => false) => watch(systemClock.now() + ms, isDone)

  progress('Placing a first order, which starts the functions:')
  await place('order-0')
  progress('Placing orders:')
  for (let order = 1; order <= ORDERS; order++) {
    await place(`order-${order}`)
    await wait(ORDER_EVERY_MS)
  }
  progress('Placing one order for each way to say when to remind:')
  for (const [index, form] of forms.entries()) await place(`order-by-form-${index + 1}`, form)
  const recalling = connectRecall(cloud)
  const takeBack = async ({ number, key, recallHandle }: Promised) => {
    const { outcome } = await recalling.recall(recallHandle)
    tell({ event: 'recalled', number, messageId: key, outcome })
  }
  progress('Placing an order that is paid: its cancellation is taken back, and its reminder too late:')
  const paid = await place('order-paid')
  await wait(PAID_AFTER_MS)
  await takeBack(paid.cancellation)
  await wait(GIVE_UP_AFTER_MS, () => isHere(paid.reminder.key))
  await takeBack(paid.reminder)
  await recalling.close()

  progress('Waiting for the rest to fall due …')
  await wait(GIVE_UP_AFTER_MS, isReceived)
  await wait(WATCH_FOR_DUPLICATES_MS)
}
