import { expect, it } from 'vitest'
import { inDays, startShop, until } from './shop-cloud.js'
import { synthesizeShop } from './synthesize-shop.js'

it('the app runs unchanged where the only emulator of DynamoDB knows no PartiQL', async () => {
  const { cloud, place, handled, kinds, lines } = await startShop(await synthesizeShop({}), { dynamodb: 'dynalite' })
  await place('0', inDays())
  const now = Date.now()
  await place('1', { remindAt: now + 2_500, cancelAt: now + 3_000 })
  const arrived = () => handled().filter(({ orderId }) => orderId === '1')
  await until(
    'three messages',
    () => arrived().length >= 3 || undefined,
    () => lines.join('\n'),
  )
  expect(
    arrived()
      .map(({ received }) => received)
      .sort(),
  ).toEqual(['shop/cancel-order', 'shop/order-placed', 'shop/remind-payment'])
  for (const { latenessMs = 0 } of handled()) expect(latenessMs).toBeGreaterThanOrEqual(0)
  expect(cloud.denials()).toEqual([])
  // What is due in days waits; what was dispatched was removed.
  await until('two rows that wait', async () => {
    const rows = (await kinds()).filter((kind) => kind === 'due')
    return rows.length === 2 || undefined
  })
}, 300_000)
