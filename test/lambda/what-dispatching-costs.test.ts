import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../lib/core/clock.js'
import { createDispatcherHandler } from '../../lib/lambda/dispatcher-handler.js'
import { meterClient } from '../dynamodb/client-watch.js'
import { openPersistence } from '../dynamodb/open-persistence.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { setUpDispatching } from './dispatching.js'

// The readme's costs are computed from these numbers.
const { measured } = JSON.parse(readFileSync(new URL('../../docs/costs.json', import.meta.url), 'utf8')) as {
  measured: Readonly<Record<string, number>>
}
/** A look at eight shards without a row: `test/dynamodb/capacity.test.ts`. */
const LOOK_UNITS = 8

describe.skipIf(whyNoDynoxide() !== undefined)('a tick that finds nothing to do', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb('dynoxide')
  })
  afterAll(() => emulator.stop())

  it('reads and writes so many units, and logs so many bytes', async () => {
    const { persistence, client } = await openPersistence(emulator)
    const { parts, lines } = setUpDispatching()
    const consumption = meterClient(client)
    const handle = createDispatcherHandler({ ...parts, persistence, clock: systemClock })
    const invocation = { awsRequestId: 'tick', getRemainingTimeInMillis: () => 300_000 }
    expect(await handle({}, invocation)).toEqual({ outcome: 'idle' })
    expect(consumption).toEqual({ read: measured.idleTickRead, written: measured.idleTickWritten })
    expect(lines.join('\n').length).toBeLessThanOrEqual(measured.tickLogBytes ?? 0)
  })
})

it('a dispatcher that stays awake looks once a second, renews its lease every two, and measures once a minute', async () => {
  const { parts, clock, store, invoke } = setUpDispatching()
  const calls = { looks: 0, writes: 0, measures: 0 }
  const { persistence } = parts
  const counting = {
    ...persistence,
    claimDueOutgoingMessages: (request: Parameters<typeof persistence.claimDueOutgoingMessages>[0]) => {
      calls.looks++
      return persistence.claimDueOutgoingMessages(request)
    },
    measureBacklog: (now: number) => {
      calls.measures++
      return persistence.measureBacklog(now)
    },
    coordination: {
      ...persistence.coordination,
      takeWorker: (...leases: Parameters<typeof persistence.coordination.takeWorker>) => {
        calls.writes++
        return persistence.coordination.takeWorker(...leases)
      },
    },
  }
  // Far enough to be let wait, near enough to stay for.
  await store('soon', 125_000)
  const ended = createDispatcherHandler({ ...parts, persistence: counting })({}, invoke('one'))
  await clock.advanceBy(30_000)
  const before = { ...calls }
  await clock.advanceBy(60_000)
  const [looks, writes, measures] = [
    calls.looks - before.looks,
    calls.writes - before.writes,
    calls.measures - before.measures,
  ]
  expect({ looks, writes, measures }).toEqual({ looks: 60, writes: 30, measures: 1 })
  // A measurement looks at the due and at the dead rows of each shard; the shard counts are read once a minute, and the
  // pause every five seconds.
  expect(measured.awakeMinuteRead).toBe(looks * LOOK_UNITS + measures * 2 * LOOK_UNITS + 1 + 12)
  expect(measured.awakeMinuteWritten).toBe(writes)
  await clock.runUntil(ended)
})
