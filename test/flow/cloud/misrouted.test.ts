import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { defineEvent } from '../../../lib/index.js'
import type { LocalCloud } from '../../../lib/local.js'
import { openDelivery } from '../../../lib/operations/open-delivery.js'
import { reachAws } from '../../../lib/operations/reach-aws.js'
import { readDelivery } from '../../../lib/wiring/deployed-delivery.js'
import { environmentVariables } from '../../../lib/wiring/environment.js'
import { messagesIn } from '../../local/support/clients.js'
import { environmentOf, filterOf, forgetTopic, propertiesOf } from './change-template.js'
import { inDays, type Shop, startShop, until } from './shop-cloud.js'
import { changeShop, type ShopTemplate, synthesizeShop } from './synthesize-shop.js'

/** Each test looks where `docs/guides/alarms.md` says that such messages are. */

let app: string
beforeAll(async () => {
  app = await synthesizeShop()
}, 240_000)

/** The app's bus, for whoever runs the cloud. */
const openBus = ({ outputs, endpoint }: LocalCloud) => {
  const [delivery] = Object.values(outputs.PostdateExample ?? {}).flatMap((value) => readDelivery(value) ?? [])
  if (delivery === undefined) throw new Error('the stack tells of no delivery')
  const { bus, close } = openDelivery(delivery, reachAws({ endpoint }))
  onTestFinished(close)
  return bus
}

/** Waits until so many messages have come into a queue; answers their ids with their names. */
const takeFrom = async ({ cloud, lines }: Shop, queue: string, count: number): Promise<Record<string, string>> => {
  const taken: Record<string, string> = {}
  const take = async () => {
    for (const { MessageAttributes: attributes } of await messagesIn(cloud, queue))
      taken[attributes?.messageId?.StringValue ?? ''] = attributes?.messageName?.StringValue ?? ''
    return Object.keys(taken).length >= count ? taken : undefined
  }
  return until(`${count} messages in ${queue}`, take, () => lines.join('\n'))
}

/** Waits until an alarm of the app rings. To be called before what it rings for is taken out of a queue. */
const untilItRings = ({ alarm, lines }: Shop, path: string) =>
  until(
    `${path} rings`,
    async () => (await alarm(path)).rings || undefined,
    () => lines.join('\n'),
  )

it('an event that nobody subscribed to, published at once or later, is in the unrouted queue, whose alarm rings', async () => {
  const shop = await startShop(app)
  const NobodyListens = defineEvent('shop/nobody-listens', 1)<{ how: string }>()
  const bus = openBus(shop.cloud)
  const now = await bus.publish(NobodyListens({ how: 'at once' }))
  const later = await bus.publish(NobodyListens({ how: 'later' }), { deliverAfter: 1_000 })
  expect([now.status, later.status]).toEqual(['sent', 'scheduled'])
  await untilItRings(shop, 'Delivery/UnroutedAlarm')
  expect(await takeFrom(shop, 'Delivery/Unrouted', 2)).toEqual({
    [now.messageId]: 'shop/nobody-listens',
    [later.messageId]: 'shop/nobody-listens',
  })
  expect(shop.handled()).toEqual([])
}, 300_000)

it('without a queue policy, messages are in the dead letters of the subscription, whose alarm rings', async () => {
  const shop = await startShop(changeShop(app, (template) => forgetTopic(template, 'BillingQueue')))
  await shop.place('0', inDays())
  const now = Date.now()
  const { reminder, cancellation } = await shop.place('1', { remindAt: now + 1_500, cancelAt: now + 1_500 })
  await untilItRings(shop, 'Billing/SubscriptionDeadLettersAlarm')
  const lost = await takeFrom(shop, 'Billing/SubscriptionDeadLetters', 4)
  expect(lost).toMatchObject({
    [reminder.messageId]: 'shop/remind-payment',
    [cancellation.messageId]: 'shop/cancel-order',
  })
  expect(Object.values(lost).filter((name) => name === 'shop/order-placed')).toHaveLength(2)
  await until('as many redrives as SNS counts', async () => {
    const counted = (await shop.cloud.metrics()).filter(({ name }) => name === 'NumberOfNotificationsRedrivenToDlq')
    return counted.length === 4 || undefined
  })
  expect(shop.handled()).toEqual([])
}, 300_000)

/** As the constructs would write it, had `CancelOrder` been forgotten among the messages of the receiver. */
const forgetCancelOrder = (template: ShopTemplate) => {
  const forgotten = 'shop/cancel-order'
  const billing = filterOf(template, 'BillingSubscription')
  billing.route = billing.route.filter((name) => name !== forgotten)
  const unrouted = filterOf(template, 'DeliveryUnroutedSubscription')
  unrouted.route = (unrouted.route as { 'anything-but'?: string[] }[]).map((one) =>
    one['anything-but'] === undefined
      ? one
      : { 'anything-but': one['anything-but'].filter((name) => name !== forgotten) },
  )
  const variables = environmentOf(template, 'BillingFunction')
  const names = String(variables[environmentVariables.subscribedNames]).split(',')
  variables[environmentVariables.subscribedNames] = names.filter((name) => name !== forgotten).join(',')
  expect(names).toHaveLength(3)
  // Five tries, six times ten seconds apart, would be minutes.
  propertiesOf(template, 'AWS::Lambda::Function', 'BillingFunction').Timeout = 1
  propertiesOf(template, 'AWS::SQS::Queue', 'BillingQueue').VisibilityTimeout = 1
}

it('with a handler whose message is not subscribed to, the function does not start and says why; nothing is lost', async () => {
  const shop = await startShop(changeShop(app, forgetCancelOrder))
  const { cloud } = shop
  await shop.place('0', inDays())
  const now = Date.now()
  const { reminder, cancellation } = await shop.place('1', { remindAt: now + 1_500, cancelAt: now + 1_500 })

  await untilItRings(shop, 'Billing/ReceiverFailsAlarm')
  const [failed] = cloud.invocations('PostdateExample/BillingFunction')
  expect(failed?.outcome).toBe('init-error')
  expect(failed?.error?.errorMessage).toMatch(/billing.*shop\/cancel-order/)
  expect(failed?.logs.join('\n')).toContain('receiver.subscription-mismatch')

  await untilItRings(shop, 'Delivery/UnroutedAlarm')
  expect(await takeFrom(shop, 'Delivery/Unrouted', 1)).toEqual({ [cancellation.messageId]: 'shop/cancel-order' })

  await untilItRings(shop, 'Billing/ReceiverDeadLettersAlarm')
  const dead = await takeFrom(shop, 'Billing/DeadLetters', 3)
  expect(dead).toMatchObject({ [reminder.messageId]: 'shop/remind-payment' })
  expect(Object.values(dead).sort()).toEqual(['shop/order-placed', 'shop/order-placed', 'shop/remind-payment'])
  expect(shop.handled()).toEqual([])
}, 300_000)
