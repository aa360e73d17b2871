import { beforeAll, describe, expect, it } from 'vitest'
import { environmentOf, propertiesOf } from './change-template.js'
import { inDays, startShop, until } from './shop-cloud.js'
import { readTemplate, type ShopVariant, synthesizeShop } from './synthesize-shop.js'

const variants: Readonly<Record<string, ShopVariant>> = {
  'as it is': {},
  'with a customer key': { customerKey: true },
  'to the minute': { mode: 'minute' },
  'to the minute, with a customer key': { mode: 'minute', customerKey: true },
}

beforeAll(async () => {
  for (const variant of Object.values(variants)) await synthesizeShop(variant)
}, 300_000)

describe.each(Object.entries(variants))('the app %s', (_, variant) => {
  const ofType = async (type: string) =>
    Object.values(readTemplate(await synthesizeShop(variant)).Resources).filter((resource) => resource.Type === type)

  it('has one key that encrypts everything, or none', async () => {
    const keys = await ofType('AWS::KMS::Key')
    expect(keys).toHaveLength(variant.customerKey ? 1 : 0)
    const [{ Properties: table = {} } = {}] = await ofType('AWS::DynamoDB::Table')
    const [{ Properties: topic = {} } = {}] = await ofType('AWS::SNS::Topic')
    const queues = await ofType('AWS::SQS::Queue')
    expect(queues.length).toBeGreaterThanOrEqual(6)
    const encrypted = [
      (table.SSESpecification as { KMSMasterKeyId?: unknown } | undefined)?.KMSMasterKeyId,
      ...[topic, ...queues.map(({ Properties = {} }) => Properties)].map((one) => one.KmsMasterKeyId),
    ]
    const byKey = encrypted.filter((key) => JSON.stringify(key ?? null).includes('"Key'))
    expect(byKey).toHaveLength(variant.customerKey ? encrypted.length : 0)
  })

  it('has a dispatcher of its mode, and a waker only where a message has an exact instant', async () => {
    const template = readTemplate(await synthesizeShop(variant))
    const mode = variant.mode ?? 'second'
    expect(environmentOf(template, 'DeliveryDispatcherFunction')).toMatchObject({ POSTDATE_MODE: mode })
    const wakers = Object.keys(template.Resources).filter((id) => id.startsWith('DeliveryWaker'))
    expect(wakers.length > 0).toBe(mode === 'second')
    expect('POSTDATE_WAKE_QUEUE_URL' in environmentOf(template, 'OrdersFunction')).toBe(mode === 'second')
    expect(propertiesOf(template, 'AWS::Scheduler::Schedule', 'DeliveryTick')).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      FlexibleTimeWindow: { Mode: 'OFF' },
    })
  })

  it('runs: an order, its reminder and its cancellation arrive, each once and not early; nothing is denied', async () => {
    const { cloud, place, handled, lines } = await startShop(await synthesizeShop(variant))
    // The first call starts a process, which may take longer than the reminder is ahead.
    await place('0', inDays())
    const now = Date.now()
    const times = { remindAt: now + 2_500, cancelAt: now + 3_000 }
    const { reminder, cancellation } = await place('1', times)
    expect([reminder.dueAt, cancellation.dueAt]).toEqual([times.remindAt, times.cancelAt])
    const arrived = () => handled().filter(({ orderId }) => orderId === '1')
    await until(
      'three messages',
      () => arrived().length >= 3 || undefined,
      () => lines.join('\n'),
    )
    const asArrived = arrived().map(({ received, messageId, dueAt }) => [received, { messageId, dueAt }])
    expect(Object.fromEntries(asArrived)).toEqual({
      'shop/order-placed': { messageId: expect.any(String) },
      'shop/remind-payment': { messageId: reminder.messageId, dueAt: times.remindAt },
      'shop/cancel-order': { messageId: cancellation.messageId, dueAt: times.cancelAt },
    })
    for (const { latenessMs = 0 } of handled()) expect(latenessMs).toBeGreaterThanOrEqual(0)
    expect(cloud.denials()).toEqual([])
  }, 300_000)
})
