import { App, Lazy, Stack, Token } from 'aws-cdk-lib'
import { beforeAll, describe, expect, it } from 'vitest'
import { DelayedDelivery } from '../../lib/constructs/delayed-delivery.js'
import type { DelayedDeliveryAttributes } from '../../lib/constructs/delivery-construct.js'
import { bundleFunctions, findResource, synthesize } from './synthesize.js'

beforeAll(bundleFunctions)

const stack = () => new Stack(new App({ context: { 'aws:cdk:disable-asset-staging': true } }), 'Shop')

describe('a delivery that could not work is refused when the app is synthesized', () => {
  it.each([
    [{ memorySize: 5 }, /memorySize is 5; it must be an integer from 128 to 10,240/],
    [{ memorySize: 256.5 }, /memorySize is 256.5/],
    [{ memorySize: Number.NaN }, /memorySize is NaN/],
    [{ mode: 'hour' as 'minute' }, /mode is "hour"; it must be second or minute/],
  ])('with %o', (props, why) => {
    expect(() => new DelayedDelivery(stack(), 'Delivery', { busName: 'orders', ...props })).toThrow(why)
  })

  const attributes: DelayedDeliveryAttributes = {
    busName: 'orders',
    tableName: 'orders-table',
    topicArn: 'arn:aws:sns:eu-west-1:123456789012:orders',
  }

  it.each([
    [{ busName: 'or ders' }, /Shop\/Delivery: the busName "or ders"/],
    [{ tableName: 'arn:aws:dynamodb:eu-west-1:123456789012:table/orders' }, /must be a table's name, not its ARN/],
    [{ topicArn: 'arn:aws:sns:eu-west-1:123456789012:orders.fifo' }, /must be that of a standard topic/],
    [{ writeShards: 1_000_000 }, /writeShards is 1000000/],
  ])('imported with %o', (part, why) => {
    expect(() => DelayedDelivery.fromAttributes(stack(), 'Delivery', { ...attributes, ...part })).toThrow(why)
  })
})

it('what is known only at deployment is taken as it is', () => {
  const template = synthesize((shop) => {
    new DelayedDelivery(shop, 'Delivery', { busName: 'orders', memorySize: Lazy.number({ produce: () => 300 }) })
    const [tableName, topicArn] = ['Table', 'Topic'].map((name) => Token.asString({ Ref: name }))
    DelayedDelivery.fromAttributes(shop, 'Other', {
      busName: 'other',
      tableName: tableName ?? '',
      topicArn: topicArn ?? '',
    })
  })
  expect(findResource(template, 'AWS::Lambda::Function', 'DeliveryDispatcherFunction').MemorySize).toBe(300)
})
