import { beforeAll, describe, expect, it } from 'vitest'
import { DelayedDelivery } from '../../lib/constructs/delayed-delivery.js'
import { bundleFunctions, environmentOf, synthesize, userFunction } from './synthesize.js'

beforeAll(bundleFunctions)

const synthesizeWith = (props: { readonly writeShards?: number }) =>
  synthesize((stack) => {
    const delivery = new DelayedDelivery(stack, 'Delivery', { busName: 'orders', ...props })
    delivery.connect(userFunction(stack, 'Orders'))
  })

describe('the count of shards', () => {
  it('reaches every function by its environment, and is left to the default when nothing is said', () => {
    const shardsOf = (props: { readonly writeShards?: number }) => {
      const template = synthesizeWith(props)
      return ['Orders', 'DeliveryDispatcherFunction'].map(
        (prefix) => environmentOf(template, prefix).POSTDATE_WRITE_SHARDS,
      )
    }
    expect(shardsOf({ writeShards: 32 })).toEqual(['32', '32'])
    expect(shardsOf({})).toEqual([undefined, undefined])
  })

  it('out of its range is refused at synth, by the name of the construct', () => {
    for (const writeShards of [0, 1.5, 1_001, Number.NaN])
      expect(() => synthesizeWith({ writeShards })).toThrow(/Delivery: writeShards is/)
  })
})
