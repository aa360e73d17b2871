import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FlowStack, scheduleMany, startFlow } from './flow-stack.js'
import { type BusProcess, startBusProcess } from './processes/setup.js'

/** Nothing more arrives within this once all was received: long enough for a second publish of anything. */
const QUIET_MS = 2_000

describe('started buses in processes of their own, on one store', () => {
  let flow: FlowStack
  let processes: BusProcess[] = []

  beforeEach(async () => {
    flow = await startFlow()
    processes = []
  })

  afterEach(async () => {
    await Promise.all(processes.map((process) => process.kill()))
    await flow.stop()
  })

  const start = async (sendOnly = false) => {
    const process = await startBusProcess({ ...flow.setup, sendOnly })
    processes.push(process)
    return process
  }

  it('publish 2,000 due rows once each, together', async () => {
    const ids = await scheduleMany(flow.sender, 2_000, new Date(Date.now() + 6_000))
    const [one, other] = await Promise.all([start(), start()])
    const received = await flow.received(2_000)
    const more = await flow.received(1, QUIET_MS)
    expect([...received].sort()).toEqual([...ids].sort())
    expect(more).toEqual([])
    // A process that has ended has told everything.
    await Promise.all([one.stop(), other.stop()])
    expect(one.dispatched.length + other.dispatched.length).toBe(2_000)
    expect(Math.min(one.dispatched.length, other.dispatched.length)).toBeGreaterThan(0)
    expect(await flow.leases()).toEqual([])
  }, 120_000)

  it('stopped in the middle, lose nothing and leave no lease behind', async () => {
    const ids = await scheduleMany(flow.sender, 2_000, new Date(Date.now() + 6_000))
    const [one, other] = await Promise.all([start(), start()])
    await one.untilDispatched(200)
    expect(await Promise.all([one.stop(), other.stop()])).toEqual([0, 0])
    const leases = await flow.leases()
    expect(leases.length).toBeGreaterThan(0)
    expect(leases.filter((lease) => /#[lm]#/.test(lease))).toEqual([])
    await start()
    const received = await flow.received(2_000)
    expect([...received].sort()).toEqual([...ids].sort())
    expect(await flow.received(1, QUIET_MS)).toEqual([])
  }, 120_000)

  it('dispatch nothing when they only send', async () => {
    await scheduleMany(flow.sender, 20, new Date(Date.now() + 100))
    await start(true)
    expect(await flow.received(1, 3_000)).toEqual([])
    expect((await flow.leases()).map((lease) => lease.slice(16, 17))).toEqual(Array.from({ length: 20 }, () => 's'))
  }, 60_000)
})
