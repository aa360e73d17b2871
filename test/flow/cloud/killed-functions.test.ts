import { expect, it } from 'vitest'
import { type PlacedOrder, startShop, until } from './shop-cloud.js'
import { synthesizeShop } from './synthesize-shop.js'

/** Two delayed messages each, and an event that is published at once. */
const ORDERS = 250
const AT_ONCE = 4
/** An order's messages are due while later orders are placed. */
const REMIND_AFTER_MS = 2_000
const CANCEL_AFTER_MS = 4_000

it('500 delayed messages survive a SIGKILL of the dispatcher and of the receiver: none is lost, none is early', async () => {
  const shop = await startShop(await synthesizeShop())
  const { cloud, handled, lines } = shop
  const about = () => lines.slice(-100).join('\n')
  const crashes = (name: string) => cloud.invocations(name).filter(({ outcome }) => outcome === 'crashed').length

  /** Kills a function, again and again, until it was at work when it was killed. */
  const killAtWork = async (name: string, from: number) => {
    await until(`${from} messages`, () => handled().length >= from || undefined, about)
    const kill = () => {
      cloud.kill(name)
      return crashes(name) > 0 || undefined
    }
    await until(`${name} is killed at work`, kill, about)
  }

  const placed: PlacedOrder[] = []
  let next = 0
  const placeSome = async () => {
    while (next < ORDERS) {
      const now = Date.now()
      const times = { remindAt: now + REMIND_AFTER_MS, cancelAt: now + CANCEL_AFTER_MS }
      placed.push(await shop.place(`order-${next++}`, times))
    }
  }
  await Promise.all([
    ...Array.from({ length: AT_ONCE }, placeSome),
    killAtWork('PostdateExample/Delivery/Dispatcher', 100),
    killAtWork('PostdateExample/BillingFunction', 150),
  ])

  // What they had in hand comes again when its lease has ended, after 35 s, and its time in the queue, after 60 s.
  const arrived = () => new Set(handled().map(({ messageId }) => messageId))
  await until('all messages', () => arrived().size >= 3 * ORDERS || undefined, about)
  await until('an empty table', async () => !(await shop.kinds()).includes('due') || undefined, about)

  const scheduled = placed.flatMap(({ reminder, cancellation }) => [reminder, cancellation])
  expect(scheduled).toHaveLength(500)
  expect(arrived().size).toBe(3 * ORDERS)
  const dueAtOf = new Map(scheduled.map(({ messageId, dueAt }) => [messageId, dueAt]))
  for (const id of dueAtOf.keys()) expect(arrived()).toContain(id)
  // One that was due before it was stored went out at once, and knows of no instant.
  const delayed = handled().filter(({ dueAt }) => dueAt !== undefined)
  expect(delayed.length).toBeGreaterThan(ORDERS)
  for (const { messageId, dueAt, latenessMs = Number.NaN } of delayed) {
    expect(dueAt).toBe(dueAtOf.get(messageId))
    expect(latenessMs).toBeGreaterThanOrEqual(0)
  }
  // A repeat has the id of the first: as many ids as messages, and as many messages as were asked for.
  const messages = new Set(handled().map(({ received, orderId }) => `${received} of ${orderId}`))
  expect(messages.size).toBe(3 * ORDERS)
  expect(await shop.kinds()).not.toContain('dead')
  for (const queue of [
    'Billing/ReceiverDeadLettersAlarm',
    'Billing/SubscriptionDeadLettersAlarm',
    'Delivery/UnroutedAlarm',
  ])
    expect((await shop.alarm(queue)).rings).toBe(false)
  expect(cloud.denials()).toEqual([])
}, 300_000)
