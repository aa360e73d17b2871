import { expect, it } from 'vitest'
import { inDays, startShop, until } from './shop-cloud.js'
import { synthesizeShop } from './synthesize-shop.js'

it('a second stack sends through the first one, at once and later, with nothing but what fromAttributes grants', async () => {
  const { cloud, place, handled, lines } = await startShop(await synthesizeShop({ partner: true }))
  await place('0', inDays(), 'PostdatePartner')
  const now = Date.now()
  const times = { remindAt: now + 2_500, cancelAt: now + 3_000 }
  const { reminder, cancellation } = await place('partner-1', times, 'PostdatePartner')
  const arrived = () => handled().filter(({ orderId }) => orderId === 'partner-1')
  await until(
    'three messages',
    () => arrived().length >= 3 || undefined,
    () => lines.join('\n'),
  )
  const byName = Object.fromEntries(arrived().map(({ received, messageId, dueAt }) => [received, { messageId, dueAt }]))
  expect(byName).toEqual({
    'shop/order-placed': { messageId: expect.any(String) },
    'shop/remind-payment': { messageId: reminder.messageId, dueAt: times.remindAt },
    'shop/cancel-order': { messageId: cancellation.messageId, dueAt: times.cancelAt },
  })
  for (const { latenessMs = 0 } of arrived()) expect(latenessMs).toBeGreaterThanOrEqual(0)
  const senders = cloud.invocations('PostdatePartner/Orders').map(({ outcome }) => outcome)
  expect(senders).toEqual(['ok', 'ok'])
  expect(cloud.invocations('PostdateExample/Orders')).toEqual([])
  expect(cloud.denials()).toEqual([])
}, 300_000)
