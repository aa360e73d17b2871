import { expect, it } from 'vitest'
import { findResource } from '../../../lib/local/deploy/find-resource.js'

const make = (path: string, logicalId: string) => ({
  path,
  logicalId,
  name: `name-${logicalId}`,
  arn: `arn:${logicalId}`,
})

const candidates = [
  make('Shop/Orders/Function/Resource', 'OrdersA1'),
  make('Shop/Delivery/Dispatcher/Resource', 'DispatcherB2'),
  make('Shop/Delivery/Waker/Resource', 'WakerC3'),
  make('Office/Orders/Function/Resource', 'OrdersD4'),
]

const find = (name: string) => findResource('function', name, candidates).logicalId

it.each([
  ['DispatcherB2', 'DispatcherB2'],
  ['Shop/Delivery/Waker', 'WakerC3'],
  ['Delivery/Waker/Resource', 'WakerC3'],
  ['name-OrdersA1', 'OrdersA1'],
  ['arn:OrdersD4', 'OrdersD4'],
  ['Shop/Orders', 'OrdersA1'],
  ['Office', 'OrdersD4'],
])('%s is %s', (name, logicalId) => {
  expect(find(name)).toBe(logicalId)
})

it.each(['Nobody', 'Shop/Order', ''])('%j is nothing', (name) => {
  expect(() => find(name)).toThrow(/there is no function/)
})

it.each(['Orders', 'Delivery', 'Orders/Function'])('%s is more than one', (name) => {
  expect(() => find(name)).toThrow(/there are 2 with the name of the function/)
})
