import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { sqsWakeHint } from '../../lib/aws.js'
import {
  type Clock,
  defineCommand,
  defineEvent,
  defineReceiver,
  type HandlerContext,
  handlerFor,
  requeue,
  sleepUntil,
  systemClock,
} from '../../lib/index.js'
import { type EmulatedStage, startEmulatedStage } from './emulated-stage.js'

let stage: EmulatedStage
beforeAll(async () => {
  stage = await startEmulatedStage()
})
afterAll(() => stage.stop())
beforeEach(() => {
  stage.events.length = 0
})
afterEach(() => vi.unstubAllEnvs())

/** The machine's clock, which a test may stop at an instant. */
const stoppableClock = (): Clock & { stop(at: number): void; goOn(): void } => {
  let stoppedAt: number | undefined
  return {
    now: () => stoppedAt ?? systemClock.now(),
    wakeAt: systemClock.wakeAt,
    stop: (at) => {
      stoppedAt = at
    },
    goOn: () => {
      stoppedAt = undefined
    },
  }
}

const until = (at: number) => sleepUntil(systemClock, at)

describe('an event with three receivers, of which two fail in the same millisecond', () => {
  it.each([300, 10_000])('of %i bytes: each of them gets its own attempt 2, and the third runs once', async (bytes) => {
    const OrderPlaced = defineEvent(`shop/order-placed-${bytes}`, 1)<{ text: string }>()
    const text = 'ü'.repeat(bytes / 2)
    const runs: string[] = []
    const receivers = await Promise.all(
      ['mail', 'stock', 'books'].map(async (kind) => {
        const name = `${kind}-${bytes}`
        const queue = await stage.messaging.addQueue({ receiver: name, names: [OrderPlaced.$name] })
        const handle = (message: { text: string }, ctx: HandlerContext) => {
          runs.push(`${kind} ${ctx.attempt} ${message.text === text} ${ctx.failure?.last?.message}`)
          if (kind !== 'stock' && ctx.attempt === 1) throw new Error(`${kind} is closed`)
        }
        const receiver = defineReceiver(name, [handlerFor(OrderPlaced, handle)], { redelivery: { delay: 300 } })
        return { name, queue, receiver }
      }),
    )
    const clock = stoppableClock()
    const bus = stage.makeBus({ clock })
    const { messageId } = await bus.publish(OrderPlaced({ text }))
    const deliver = async (expected: number) => {
      const batches = await Promise.all(
        receivers.map(async ({ queue, receiver }) => ({
          receiver,
          records: await stage.take(queue.queueUrl, expected, 1_000),
        })),
      )
      return () => Promise.all(batches.map(({ receiver, records }) => bus.handleRecords(records, receiver, {})))
    }
    const handle = await deliver(1)
    const failedAt = systemClock.now()
    clock.stop(failedAt)
    expect(await handle()).toEqual([[], [], []])
    clock.goOn()
    expect((await stage.rows()).map(({ rowId, dueAt }) => `${rowId} ${dueAt - failedAt}`).sort()).toEqual([
      `${messageId}~books-${bytes}~2 300`,
      `${messageId}~mail-${bytes}~2 300`,
    ])
    await until(failedAt + 300)
    await stage.dispatch()
    expect(await (await deliver(2))()).toEqual([[], [], []])
    expect(runs.sort()).toEqual([
      'books 1 true undefined',
      'books 2 true books is closed',
      'mail 1 true undefined',
      'mail 2 true mail is closed',
      'stock 1 true undefined',
    ])
    expect(await stage.rows()).toEqual([])
  })
})

describe('a requeue', () => {
  it('after 54,524 s is a row 15 h 8 min 44 s ahead, and no request to SQS has a delay above 900', async () => {
    const AskPartner = defineCommand('shop/ask-partner', 1)<{ waitSeconds: number }>()
    const wake = await stage.messaging.addQueue({ receiver: 'wake' })
    const queue = await stage.messaging.addQueue({ receiver: 'partner', names: [AskPartner.$name] })
    const clock = stoppableClock()
    const bus = stage.makeBus({ clock, wakeHint: sqsWakeHint({ queueUrl: wake.queueUrl, client: stage.sqs }) })
    const receiver = defineReceiver('partner', [
      handlerFor(AskPartner, ({ waitSeconds }) => requeue({ after: { seconds: waitSeconds } })),
    ])
    for (const waitSeconds of [54_524, 120]) await bus.send(AskPartner({ waitSeconds }))
    const records = await stage.take(queue.queueUrl, 2)
    const before = stage.messagingProxy.seen.length
    const now = systemClock.now()
    clock.stop(now)
    expect(await bus.handleRecords(records, receiver)).toEqual([])
    const waits = (await stage.rows()).map(({ dueAt }) => dueAt - now).sort((one, other) => one - other)
    expect(waits).toEqual([120_000, (15 * 3_600 + 8 * 60 + 44) * 1_000])
    const delays = stage.messagingProxy.seen
      .slice(before)
      .flatMap(({ body }) => (body.includes('DelaySeconds') ? [JSON.parse(body).DelaySeconds] : []))
    // The hint for the nearer of the two; the other is found by a tick.
    expect(delays).toEqual([119])
    expect(Math.max(...delays)).toBeLessThanOrEqual(900)
    for (const { rowId } of await stage.rows()) expect(rowId).toMatch(/~partner~2$/)
    await emptyStore()
  })
})

/** Dispatches whatever waits, however far ahead, so that the next test finds an empty store. */
const emptyStore = async (): Promise<void> => {
  const now = systemClock.now() + 10 ** 9
  const { claims } = await stage.persistence.claimDueOutgoingMessages({ now, dueBefore: now, limit: 100, leaseMs: 1 })
  await stage.persistence.deleteOutgoingMessages(claims)
}

describe('a chain of 40 redeliveries', () => {
  const lineage = 'Root=1-5759e988-bd862e3fe1be46a994272793;Lineage=1:abcdef12:15'

  it("is not cut by Lambda's loop detection: no hint, dispatch or dead letter carries a lineage", async () => {
    const Poll = defineCommand('shop/poll', 1)()
    const wake = await stage.messaging.addQueue({ receiver: 'wake-poll' })
    const queue = await stage.messaging.addQueue({ receiver: 'poll', names: [Poll.$name] })
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'poll')
    vi.stubEnv('_X_AMZN_TRACE_ID', lineage)
    const bus = stage.makeBus({ wakeHint: sqsWakeHint({ queueUrl: wake.queueUrl, client: stage.sqs }) })
    const attempts: number[] = []
    const receiver = defineReceiver(
      'poll',
      [
        handlerFor(Poll, (_, ctx) => {
          attempts.push(ctx.attempt)
          if (ctx.attempt <= 20) return requeue({ after: 1 })
          throw new Error('not yet')
        }),
      ],
      { redelivery: { delay: 1, backoff: 'fixed', maxAttempts: 21 } },
    )
    const { deadLetters } = stage.sourceOf(queue)
    const from = stage.messagingProxy.seen.length
    await bus.send(Poll({}))
    for (let round = 0; round <= 40; round++) {
      const records = await stage.take(queue.queueUrl, 1)
      expect(records).toHaveLength(1)
      expect(await bus.handleRecords(records, receiver, deadLetters && { deadLetters })).toEqual([])
      await until(systemClock.now() + 3)
      await stage.dispatch()
    }
    expect(attempts).toEqual(Array.from({ length: 41 }, (_, index) => index + 1))
    expect(await stage.take(queue.deadLetterUrl, 1)).toHaveLength(1)
    const seen = stage.messagingProxy.seen.slice(from)
    const operationsOf = (pattern: RegExp) =>
      seen.filter(({ headers, body }) => pattern.test(`${headers['x-amz-target']} ${body}`))
    // One publish at once and 40 dispatched; a hint for each copy, unless one served several.
    expect(operationsOf(/Action=PublishBatch/)).toHaveLength(41)
    expect(operationsOf(/SendMessage/).length).toBeGreaterThan(10)
    expect(seen.filter(({ headers, body }) => /lineage/i.test(`${headers['x-amzn-trace-id']} ${body}`))).toEqual([])
    // A client of anyone else's would carry it.
    const plain = new SQSClient({
      region: 'us-east-1',
      endpoint: stage.messagingProxy.endpoint,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    })
    await plain.send(new ListQueuesCommand({}))
    plain.destroy()
    expect(stage.messagingProxy.seen.at(-1)?.headers['x-amzn-trace-id']).toBe(lineage)
  }, 60_000)
})
