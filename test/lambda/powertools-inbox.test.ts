import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../lib/core/observation.js'
import { handlerFor } from '../../lib/core/receiver.js'
import type { Inbox } from '../../lib/core/redelivery/inbox.js'
import { createReceiver } from '../../lib/lambda/create-receiver.js'
import { powertoolsInbox } from '../../lib/lambda/powertools-inbox.js'
import { createBus } from '../../lib/memory/create-bus.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { readAll, startTestDynamoDb, type TestDynamoDb } from '../support/dynamodb-table.js'
import { envelopeOf, invocationContext, recordingTransport, sqsEventOf } from './lambda-shapes.js'

let dynamoDb: TestDynamoDb
let tableName: string
beforeAll(async () => {
  dynamoDb = await startTestDynamoDb()
  tableName = await dynamoDb.table()
})
afterAll(() => dynamoDb.stop())

const makeInbox = (retention?: { readonly seconds: number }): Inbox =>
  powertoolsInbox({ tableName, client: dynamoDb.client(), ...(retention !== undefined && { retention }) })

/** Work that ends when the test says so. */
const holdWork = () => {
  let release: (result: string) => void = () => {}
  let fail: (error: Error) => void = () => {}
  let begin: () => void = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const work = () => {
    begin()
    return new Promise<string>((resolve, reject) => {
      release = resolve
      fail = reject
    })
  }
  return { work, begun, release: (result: string) => release(result), fail: (error: Error) => fail(error) }
}

describe("an inbox on Powertools' idempotency", () => {
  it('runs work once, and remembers its result for another process', async () => {
    let runs = 0
    const work = async () => `result ${++runs}`
    expect(await makeInbox().once('once', work, 10_000)).toEqual({ state: 'ran', result: 'result 1' })
    expect(await makeInbox().once('once', work, 10_000)).toEqual({ state: 'remembered', result: 'result 1' })
    expect(await makeInbox().once('another', work, 10_000)).toEqual({ state: 'ran', result: 'result 2' })
  })

  it('says of work that runs elsewhere that it is in progress', async () => {
    const held = holdWork()
    const first = makeInbox().once('held', held.work, 10_000)
    await held.begun
    expect(await makeInbox().once('held', async () => 'never', 10_000)).toEqual({ state: 'in-progress' })
    held.release('done')
    expect(await first).toEqual({ state: 'ran', result: 'done' })
    expect(await makeInbox().once('held', async () => 'never', 10_000)).toEqual({ state: 'remembered', result: 'done' })
  })

  it('forgets work that threw, and throws it as it was', async () => {
    const held = holdWork()
    const first = makeInbox().once('thrown', held.work, 10_000)
    await held.begun
    const error = new TypeError('declined')
    held.fail(error)
    await expect(first).rejects.toBe(error)
    expect(await makeInbox().once('thrown', async () => 'again', 10_000)).toEqual({ state: 'ran', result: 'again' })
  })

  it('lets go of what a dead process has begun, once its time was over', async () => {
    const dead = holdWork()
    void makeInbox().once('dead', dead.work, 300)
    await dead.begun
    const startedAt = performance.now()
    let answer = await makeInbox().once('dead', async () => 'taken over', 10_000)
    expect(answer).toEqual({ state: 'in-progress' })
    while (answer.state === 'in-progress') answer = await makeInbox().once('dead', async () => 'taken over', 10_000)
    expect(performance.now() - startedAt).toBeGreaterThan(200)
    expect(answer).toEqual({ state: 'ran', result: 'taken over' })
  })

  it('lets go also where no time is known, or none is left', async () => {
    for (const timeLeft of [undefined, 0]) {
      const dead = holdWork()
      void makeInbox().once(`no time ${timeLeft}`, dead.work, timeLeft)
      await dead.begun
    }
    const items = await readAll(dynamoDb.client(), tableName, 'inbox#no time')
    expect(items).toHaveLength(2)
    for (const item of items) expect(Number(item.in_progress_expiration?.N)).toBeGreaterThan(Date.now() - 60_000)
  })

  it('keeps items in partitions of their own, which leave by TTL after the retention', async () => {
    const before = Math.floor(Date.now() / 1000)
    await makeInbox({ seconds: 3_600 }).once('kept', async () => '{"end":"done"}', 10_000)
    const [item] = await readAll(dynamoDb.client(), tableName, 'inbox#kept')
    expect(item).toMatchObject({ status: { S: 'COMPLETED' }, data: { S: '{"end":"done"}' } })
    expect(Number(item?.expiresAt?.N) - before).toBeGreaterThanOrEqual(3_600)
    expect(Number(item?.expiresAt?.N) - before).toBeLessThan(3_660)
  })

  it('takes keys of any length', async () => {
    const key = 'k'.repeat(5_000)
    expect(await makeInbox().once(`${key}1`, async () => '1', 1_000)).toMatchObject({ state: 'ran' })
    expect(await makeInbox().once(`${key}2`, async () => '2', 1_000)).toMatchObject({ state: 'ran' })
    expect(await makeInbox().once(`${key}1`, async () => '3', 1_000)).toEqual({ state: 'remembered', result: '1' })
  })

  it('refuses a retention below a second, which TTL can not count', () => {
    expect(() => powertoolsInbox({ tableName, client: dynamoDb.client(), retention: 999 })).toThrowError(
      expect.objectContaining({ code: 'options.invalid' }),
    )
  })
})

describe('a receiver with an inbox', () => {
  class ChargeCard {
    readonly $name = 'shop/charge-card'
    readonly $version = 1
  }
  class CardCharged {
    readonly $name = 'shop/card-charged'
    readonly $version = 1
  }

  const setReceiver = (handle: () => unknown) => {
    const transport = recordingTransport()
    const persistence = { ...memoryPersistence(), durable: true }
    const bus = createBus({ name: 'shop', transport, persistence, logger: silentLogger })
    const handler = handlerFor(ChargeCard, async (_, ctx) => {
      const result = await handle()
      await ctx.publish(new CardCharged())
      return result
    })
    const options = { name: 'billing', inbox: makeInbox(), environment: {} }
    const makeProcess = () => createReceiver(bus, [handler], options)
    const event = (messageId: string) =>
      sqsEventOf([{ envelope: envelopeOf(messageId, 'shop/charge-card', {}), delivery: { attempt: 1 } }])
    return { transport, persistence, makeProcess, event }
  }

  it('handles a message that its queue hands out twice once', async () => {
    let runs = 0
    const { makeProcess, event, transport } = setReceiver(() => void runs++)
    for (let time = 0; time < 3; time++)
      expect(await makeProcess()(event('twice'), invocationContext())).toEqual({ batchItemFailures: [] })
    expect([runs, transport.published.length]).toEqual([1, 1])
  })

  it('gives a message back that is handled elsewhere, and that is no attempt', async () => {
    const held = holdWork()
    let runs = 0
    const { makeProcess, event, persistence } = setReceiver(() => {
      runs++
      return held.work()
    })
    const first = makeProcess()(event('busy'), invocationContext())
    await held.begun
    expect(await makeProcess()(event('busy'), invocationContext())).toEqual({
      batchItemFailures: [{ itemIdentifier: 'record-1' }],
    })
    held.release('done')
    expect(await first).toEqual({ batchItemFailures: [] })
    expect(runs).toBe(1)
    expect((await persistence.measureBacklog(10 ** 15 - 1)).due).toBe(0)
  })

  it('remembers that a run has failed: its copy is stored once, whoever tells', async () => {
    let runs = 0
    const { makeProcess, event, persistence } = setReceiver(() => {
      runs++
      throw new Error('declined')
    })
    for (let time = 0; time < 3; time++)
      expect(await makeProcess()(event('failed'), invocationContext())).toEqual({ batchItemFailures: [] })
    expect(runs).toBe(1)
    expect((await persistence.measureBacklog(10 ** 15 - 1)).due).toBe(1)
  })
})
