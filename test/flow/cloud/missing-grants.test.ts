import { beforeAll, expect, it } from 'vitest'
import { playOrders } from '../../../examples/shop/play-orders.js'
import { propertiesOf, removeGrant } from './change-template.js'
import { inDays, startShop, until } from './shop-cloud.js'
import { changeShop, type ShopTemplate, synthesizeShop } from './synthesize-shop.js'

let app: string
beforeAll(async () => {
  // Without a waker, which may publish as well.
  app = await synthesizeShop({ mode: 'minute' })
}, 240_000)

it('an orders function that may not insert fails the run, which names function, action and resource', async () => {
  const shop = await startShop(
    changeShop(app, (template) => removeGrant(template, 'OrdersRole', 'dynamodb:PartiQLInsert')),
  )
  const { cloud, lines, table, kinds } = shop
  await expect(
    playOrders(
      cloud,
      () => {},
      () => {},
    ),
  ).rejects.toThrow(/did not place order-0: .*access/i)
  const resource = `arn:aws:dynamodb:us-east-1:000000000000:table/${table}`
  const [denial] = cloud.denials()
  expect(denial).toMatchObject({ path: 'PostdateExample/Orders/Function', action: 'dynamodb:PartiQLInsert', resource })
  expect(lines.filter((line) => line.startsWith('AccessDenied'))[0]).toMatch(
    /is not authorized to perform: dynamodb:PartiQLInsert on resource: \S+ .*\(the function PostdateExample\/Orders\/Function\)/,
  )
  // All of it goes out, or nothing.
  expect(await kinds()).not.toContain('due')
}, 240_000)

it('a dispatcher that may not publish lets messages wait: none dies, and the alarm of dispatch errors rings', async () => {
  const withoutPublish = (template: ShopTemplate) => {
    removeGrant(template, 'DeliveryDispatcherRole', 'sns:Publish')
    // It reports every minute and when a turn ends; a turn of five minutes would make this test take one.
    propertiesOf(template, 'AWS::Lambda::Function', 'DeliveryDispatcherFunction').Timeout = 6
  }
  const { cloud, lines, place, handled, alarm, kinds } = await startShop(changeShop(app, withoutPublish))
  await place('0', inDays())
  const now = Date.now()
  await place('1', { remindAt: now + 2_500, cancelAt: now + 3_000 })
  const measured = async (name: string) => {
    const samples = (await cloud.metrics()).filter((one) => one.namespace === 'Postdate' && one.name === name)
    return samples.map(({ value }) => value)
  }
  const both = async () => (await measured('Backlog')).includes(2) || undefined
  await until('a backlog of two', both, () => lines.join('\n'))
  const rings = async () => (await alarm('Delivery/DispatchErrorsAlarm')).rings || undefined
  await until('the alarm', rings, () => lines.join('\n'))

  expect(Math.max(...(await measured('BacklogAgeMs')))).toBeGreaterThan(0)
  expect(new Set(await measured('Dead'))).toEqual(new Set([0]))
  expect((await alarm('Delivery/DeadMessagesAlarm')).rings).toBe(false)
  expect(await kinds()).toEqual(['control', 'due', 'due', 'due', 'due'])
  // What is published at once comes from the orders function, which may.
  await until('both orders', () => handled().length === 2 || undefined)
  expect(new Set(handled().map(({ received }) => received))).toEqual(new Set(['shop/order-placed']))
  for (const { path, action, resource } of cloud.denials()) {
    expect(`${path} ${action}`).toBe('PostdateExample/Delivery/Dispatcher/Function sns:Publish')
    expect(resource).toMatch(/^arn:aws:sns:us-east-1:000000000000:PostdateExample-DeliveryTopic/)
  }
  const reasons = cloud.invocations('Delivery/Dispatcher').flatMap(({ logs }) => logs)
  expect(reasons.join('\n')).toMatch(/topic-down[\s\S]*not authorized to perform: sns:Publish/)
}, 300_000)
