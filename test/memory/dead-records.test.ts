import { expect, test } from 'vitest'
import { memoryTransport } from '../../lib/memory/transport.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'
import { envelopeOf } from '../core/dispatch/stage.js'

test('a record that is not delivered again is logged, once and without its payload', async () => {
  const clock = createVirtualClock(0)
  const warnings: (readonly [string, object | undefined])[] = []
  const warn = (message: string, data?: object) => void warnings.push([message, data])
  const logger = { debug() {}, info() {}, error() {}, warn }
  const transport = memoryTransport({ clock, logger, maxReceives: 3 })
  const stop = transport
    .source('billing', ['orders/remind'])
    .start(async (records) =>
      records.flatMap(({ recordId, attributes }) => (attributes.messageId === 'bad' ? [recordId] : [])),
    )
  const publications = ['bad', 'good'].map((id) => ({
    envelope: envelopeOf(id, '{"secret":1}'),
    delivery: { attempt: 1 },
  }))
  await transport.publish(publications)
  await clock.advanceBy(1_999)
  expect(warnings).toEqual([])
  await clock.advanceBy(60_000)
  await stop()
  expect(warnings).toEqual([
    [
      expect.stringContaining('is not delivered again'),
      { source: 'billing', recordId: 'billing-1', receives: 3, messageId: 'bad', messageName: 'orders/remind' },
    ],
  ])
  expect(JSON.stringify(warnings)).not.toContain('secret')
})
