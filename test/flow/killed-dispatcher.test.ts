import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SeenRequest } from '../support/holding-proxy.js'
import { type FlowStack, scheduleMany, startFlow } from './flow-stack.js'
import { type BusProcess, startBusProcess } from './processes/setup.js'

const MESSAGES = 30

const isPublish = ({ body }: SeenRequest) => body.includes('Action=PublishBatch')
const isClaim = ({ headers, body }: SeenRequest) => {
  const target = String(headers['x-amz-target'])
  return target.endsWith('UpdateItem') || (target.endsWith('BatchExecuteStatement') && body.includes('UPDATE'))
}

describe('a dispatching process that is killed', () => {
  let flow: FlowStack
  let killed: BusProcess | undefined
  let second: BusProcess | undefined

  beforeEach(async () => {
    flow = await startFlow()
  })

  afterEach(async () => {
    await Promise.all([killed?.kill(), second?.kill()])
    await flow.stop()
  })

  it('while the answer to its publish is held, loses nothing, and repeats only under the same id', async () => {
    const held = flow.messagingProxy.holdNext(isPublish)
    killed = await startBusProcess(flow.setup)
    const ids = await scheduleMany(flow.sender, MESSAGES, new Date(Date.now() + 1_000))
    await held
    await killed.kill()
    second = await startBusProcess(flow.setup)
    // The dead process's leases last 30 s and a margin of 5.
    const received = await flow.received(MESSAGES * 2, 45_000)
    expect(new Set(received)).toEqual(new Set(ids))
    const repeated = received.length - MESSAGES
    // At least the held request's messages went out twice; at most all that the dead process had published and not settled.
    expect(repeated).toBeGreaterThan(0)
    expect(repeated).toBeLessThanOrEqual(MESSAGES)
    // What it has published it settles before it ends.
    await second.stop()
    expect(await flow.leases()).toEqual([])
  }, 120_000)

  it('while the answer to its claim is held, loses nothing and repeats nothing', async () => {
    const held = flow.dynamoDbProxy.holdNext(isClaim)
    killed = await startBusProcess(flow.setup)
    const ids = await scheduleMany(flow.sender, MESSAGES, new Date(Date.now() + 1_000))
    await held
    await killed.kill()
    second = await startBusProcess(flow.setup)
    const received = await flow.received(MESSAGES, 45_000)
    expect(new Set(received)).toEqual(new Set(ids))
    expect(await flow.received(1, 1_000)).toEqual([])
    expect(received).toHaveLength(MESSAGES)
  }, 120_000)
})
