import { readFileSync } from 'node:fs'
import type { Stack } from 'aws-cdk-lib'
import { beforeAll, expect, it } from 'vitest'
import { DelayedDelivery } from '../../lib/constructs/delayed-delivery.js'
import { MessageReceiver } from '../../lib/constructs/message-receiver.js'
import { metrics } from '../../lib/wiring/metrics.js'
import { bundleFunctions, synthesize, userFunction } from '../constructs/synthesize.js'

beforeAll(bundleFunctions)

const page = readFileSync(new URL('../../docs/guides/alarms.md', import.meta.url), 'utf8')
const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading)

const alarmsOf = (mode: 'second' | 'minute') => {
  const template = synthesize((stack: Stack) => {
    const delivery = new DelayedDelivery(stack, 'Delivery', { busName: 'orders', mode })
    const handler = userFunction(stack, 'Handler')
    new MessageReceiver(stack, 'Billing', { delivery, name: 'billing', handler, messages: ['orders/place'] })
  })
  return Object.values(template.findResources('AWS::CloudWatch::Alarm')).map(
    ({ Properties }) => Properties.AlarmDescription.split('docs/guides/alarms.md#')[1] as string,
  )
}

it('every alarm leads to a heading of the page, and every heading has an alarm', () => {
  expect(alarmsOf('second').sort()).toEqual([...headings].sort())
})

it('the numbers of alarms are those that the page and the props tell', () => {
  expect(alarmsOf('second')).toHaveLength(9 + 3)
  expect(alarmsOf('minute')).toHaveLength(8 + 3)
})

it.each(headings)('%s: what it means, and what to do', (heading) => {
  const [section = ''] = page.split(`## ${heading}\n`)[1]?.split(/^## /m) ?? []
  const parts = [...section.matchAll(/^\*\*(.+?)\.\*\* \S/gm)].map(([, part]) => part)
  expect(parts).toEqual(['What it means', 'What to do'])
})

it('the page lists every metric, and no other', () => {
  const listed = [...page.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, name, unit]) => `${name} ${unit}`)
  expect(listed).toEqual(Object.values(metrics).map(({ name, unit }) => `${name} ${unit.toLowerCase()}`))
})
