import { expect, it } from 'vitest'
import { readEmbeddedMetrics } from '../../../lib/local/metrics/read-embedded-metrics.js'
import { lambda } from '../support/resources.js'
import { shareCloud, until } from '../support/start-cloud.js'

const document = (values: object, dimensions: readonly (readonly string[])[] = [['bus']]) =>
  JSON.stringify({
    _aws: {
      Timestamp: 1_700_000_000_000,
      CloudWatchMetrics: [
        {
          Namespace: 'Postdate',
          Dimensions: dimensions,
          Metrics: [{ Name: 'backlogAge', Unit: 'Milliseconds' }, { Name: 'dispatched' }],
        },
      ],
    },
    bus: 'orders',
    shard: 3,
    ...values,
  })

const sample = { namespace: 'Postdate', dimensions: { bus: 'orders' }, at: 1_700_000_000_000 }

it('a line in the Embedded Metric Format is its metrics', () => {
  expect(readEmbeddedMetrics(document({ backlogAge: 12.5, dispatched: 3 }))).toEqual([
    { ...sample, name: 'backlogAge', value: 12.5, unit: 'Milliseconds' },
    { ...sample, name: 'dispatched', value: 3, unit: 'None' },
  ])
})

it('a metric of several values is as many samples, and a missing one none', () => {
  expect(readEmbeddedMetrics(document({ dispatched: [1, 2] })).map(({ value }) => value)).toEqual([1, 2])
})

it('each set of dimensions is a metric of its own', () => {
  expect(
    readEmbeddedMetrics(document({ dispatched: 1 }, [['bus'], ['bus', 'shard'], []])).map((one) => one.dimensions),
  ).toEqual([{ bus: 'orders' }, { bus: 'orders', shard: '3' }, {}])
})

it('what a logger writes before the document does not matter', () => {
  expect(readEmbeddedMetrics(`2026-01-01T00:00:00Z INFO ${document({ dispatched: 1 })}`)).toHaveLength(1)
})

it.each(['', 'plain', '{"a":1}', '{"CloudWatchMetrics"', '{"_aws":{"CloudWatchMetrics":1}}', '["CloudWatchMetrics"]'])(
  'any other line has none: %s',
  (line) => {
    expect(readEmbeddedMetrics(line)).toEqual([])
  },
)

const under = shareCloud({ ...lambda('Probe', 'probe') })

it('the cloud keeps what functions write and what Lambda measures', async () => {
  await under.cloud.invoke('Probe', { action: 'log', lines: [document({ backlogAge: 7 })] })
  await under.cloud.invoke('Probe', { action: 'fail', message: 'no' })
  const samples = await under.cloud.metrics()
  expect(samples).toContainEqual({ ...sample, name: 'backlogAge', value: 7, unit: 'Milliseconds' })
  const errors = samples.filter(({ namespace, name }) => namespace === 'AWS/Lambda' && name === 'Errors')
  expect(errors.map(({ value }) => value)).toEqual([0, 1])
})

it('what a function writes while it is at work is a metric at once', async () => {
  const { cloud } = under
  const ended = cloud.invoke('Probe', { action: 'logAndSleep', line: document({ backlogAge: 8 }), ms: 60_000 })
  const isThere = async () => (await cloud.metrics()).some(({ value }) => value === 8) || undefined
  await until(isThere)
  cloud.kill('Probe')
  expect((await ended).outcome).toBe('crashed')
  expect((await cloud.metrics()).filter(({ value }) => value === 8)).toHaveLength(1)
})
