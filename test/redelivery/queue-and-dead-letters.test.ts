import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { dynamoDbPersistence } from '../../lib/aws.js'
import { wireBytes } from '../../lib/core/wire.js'
import {
  type Bus,
  defineCommand,
  defineReceiver,
  type HandlerContext,
  handlerFor,
  isPostdateError,
  type RedeliveryOptions,
  systemClock,
} from '../../lib/index.js'
import { createReceiver } from '../../lib/lambda.js'
import { readSqsMessage } from '../../lib/sqs/record.js'
import type { QueueOptions, TestQueue } from '../support/messaging.js'
import { type EmulatedStage, startEmulatedStage } from './emulated-stage.js'

let stage: EmulatedStage
let started: Bus[] = []
beforeAll(async () => {
  stage = await startEmulatedStage()
})
afterAll(() => stage.stop())
beforeEach(() => {
  stage.events.length = 0
})
afterEach(async () => {
  await Promise.all(started.map((bus) => bus.stop()))
  started = []
})

const Charge = (name: string) => defineCommand(`shop/${name}`, 1)<{ text?: string; number?: number }>()

interface StartedReceiver {
  readonly bus: Bus
  readonly queue: TestQueue
  readonly command: ReturnType<typeof Charge>
  readonly runs: { readonly at: number; readonly attempt: number }[]
}

/** A receiver of its own queue, on a started bus that also dispatches. */
const startReceiver = async (
  name: string,
  handle: (ctx: HandlerContext, runs: number) => unknown,
  redelivery: RedeliveryOptions,
  options: Partial<QueueOptions> & { readonly persistence?: EmulatedStage['persistence'] } = {},
): Promise<StartedReceiver> => {
  const command = Charge(name)
  const { persistence, ...queueOptions } = options
  const queue = await stage.messaging.addQueue({ receiver: name, names: [command.$name], ...queueOptions })
  const runs: { at: number; attempt: number }[] = []
  const receiver = defineReceiver(
    name,
    [
      handlerFor(command, (_, ctx) => {
        runs.push({ at: systemClock.now(), attempt: ctx.attempt })
        return handle(ctx, runs.length)
      }),
    ],
    { redelivery },
  )
  const bus = stage.makeBus({
    receivers: [{ receiver, source: stage.sourceOf(queue) }],
    ...(persistence !== undefined && { persistence }),
  })
  await bus.start()
  started.push(bus)
  return { bus, queue, command, runs }
}

const whenTrue = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 20_000, interval: 50 })
const countIn = async (queueUrl: string) => {
  const { Attributes = {} } = await stage.messaging.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
  )
  return {
    visible: Number(Attributes.ApproximateNumberOfMessages),
    hidden: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
  }
}

describe('an error with a stack of 60 KB, a body as large as may be sent, and ten attributes', () => {
  it('ends in one dead letter, without a loop', async () => {
    const fail = (ctx: HandlerContext) => {
      throw Object.assign(new Error(`failure ${ctx.attempt} ${'m'.repeat(2_000)}`), {
        stack: 'at ü.ts\n'.repeat(7_000),
      })
    }
    const { bus, queue, command, runs } = await startReceiver('huge', fail, { delays: [100, 100] })
    const attributes = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`attribute${index}`, `ü${index}`]))
    // As large as the bus takes it: one byte more is refused.
    const send = (bytes: number) =>
      bus.send(command({ text: 'x'.repeat(bytes) }), { attributes, messageId: `huge-${bytes}` })
    const tooLarge = await send(262_144).catch((error: unknown) => error)
    if (!isPostdateError(tooLarge, 'message.too-large')) throw new Error('it was not refused')
    const largest = 262_144 - (tooLarge.details.bytes - tooLarge.details.maxBytes)
    await expect(send(largest + 1)).rejects.toMatchObject({ code: 'message.too-large' })
    await send(largest)
    await whenTrue(async () => expect((await countIn(queue.deadLetterUrl)).visible).toBe(1))
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    const [letter] = await stage.take(queue.deadLetterUrl, 1)
    if (letter === undefined) throw new Error('no dead letter')
    expect(wireBytes(letter)).toBeLessThanOrEqual(262_144)
    expect(Object.keys(letter.attributes).length).toBeLessThanOrEqual(10)
    expect(JSON.parse(letter.body).text).toHaveLength(largest)
    expect(JSON.parse(letter.attributes.attributes ?? '')).toEqual(attributes)
    const why = JSON.parse(letter.attributes.deadLetter ?? '')
    expect(why).toMatchObject({ attempt: 3, receiver: 'huge', failure: { count: 3 } })
    expect(why.reason).toContain('failed 3 times, the last in attempt 3: Error: failure 3')
    expect(await stage.rows()).toEqual([])
    expect(await stage.take(queue.deadLetterUrl, 1, 1_000)).toEqual([])
    expect(runs).toHaveLength(3)
    expect(stage.events.filter(({ type }) => type === 'dead-lettered')).toHaveLength(1)
  }, 60_000)
})

describe('with redelivery off', () => {
  it('SQS alone retries, and its redrive policy gives up; nothing is in the store', async () => {
    const fail = () => {
      throw new Error('declined')
    }
    const before = stage.dynamoDbProxy.seen.length
    const options = { visibilitySeconds: 1, maxReceiveCount: 3 }
    const { bus, queue, command, runs } = await startReceiver('off', fail, { enabled: false }, options)
    await bus.send(command({}))
    await whenTrue(async () => expect((await countIn(queue.deadLetterUrl)).visible).toBe(1))
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 1, 1])
    const [letter] = await stage.take(queue.deadLetterUrl, 1)
    expect(letter?.attributes).not.toHaveProperty('deadLetter')
    const inserts = stage.dynamoDbProxy.seen.slice(before).filter(({ body }) => body.includes('INSERT'))
    expect(inserts).toEqual([])
  }, 60_000)
})

describe('with the store down', () => {
  it('SQS retries, and nothing is lost', async () => {
    const client = new DynamoDBClient({
      region: 'us-east-1',
      endpoint: 'http://127.0.0.1:9',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      maxAttempts: 1,
    })
    const persistence = dynamoDbPersistence({ tableName: 'down', client })
    const failTwice = (_: HandlerContext, run: number) => {
      if (run <= 2) throw new Error('declined')
    }
    const options = { visibilitySeconds: 1, persistence }
    const { bus, queue, command, runs } = await startReceiver('down', failTwice, {}, options)
    await bus.send(command({}))
    await whenTrue(() => expect(stage.events.filter(({ type }) => type === 'handled')).toHaveLength(1))
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 1, 1])
    const givenBack = stage.events.flatMap((event) => (event.type === 'given-back' ? [event.reason] : []))
    expect(givenBack).toEqual(Array(2).fill(expect.stringContaining('persistence.unavailable')))
    await whenTrue(async () => expect(await countIn(queue.queueUrl)).toEqual({ visible: 0, hidden: 0 }))
    expect(await countIn(queue.deadLetterUrl)).toEqual({ visible: 0, hidden: 0 })
    client.destroy()
  }, 60_000)
})

describe('a batch of ten records', () => {
  const answer = async (name: string, isPoisoned: (number: number) => boolean) => {
    const command = Charge(name)
    const queue = await stage.messaging.addQueue({ receiver: name, names: [command.$name] })
    const bus = stage.makeBus({ sendOnly: true })
    for (let number = 0; number < 10; number++) await bus.send(command({ number }))
    const messages: Message[] = []
    await whenTrue(async () => {
      const { Messages = [] } = await stage.messaging.sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: queue.queueUrl,
          MaxNumberOfMessages: 10,
          MessageAttributeNames: ['All'],
        }),
      )
      messages.push(...Messages)
      expect(messages).toHaveLength(10)
    })
    const handler = handlerFor(command, ({ number = 0 }) => {
      if (isPoisoned(number)) throw new Error('poison')
    })
    const receive = createReceiver(bus, [handler], { name, redelivery: { enabled: false }, environment: {} })
    const { batchItemFailures } = await receive({
      Records: messages.map(({ MessageId = '', Body = '', MessageAttributes = {} }) => ({
        messageId: MessageId,
        body: Body,
        messageAttributes: Object.fromEntries(
          Object.entries(MessageAttributes).map(([key, { StringValue }]) => [key, { stringValue: StringValue }]),
        ),
      })),
    })
    // As Lambda does: what is not named is removed.
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
    const acknowledged = messages.filter(({ MessageId = '' }) => !failed.has(MessageId))
    if (acknowledged.length > 0)
      await stage.messaging.sqs.send(
        new DeleteMessageBatchCommand({
          QueueUrl: queue.queueUrl,
          Entries: acknowledged.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
        }),
      )
    const numbersOf = (list: readonly Message[]) =>
      list.map((message) => JSON.parse(readSqsMessage(message).body).number).sort()
    return {
      reported: numbersOf(messages.filter(({ MessageId = '' }) => failed.has(MessageId))),
      left: (await countIn(queue.queueUrl)).hidden,
    }
  }

  it('of which one is poisoned has nine acknowledged and exactly that one reported', async () => {
    expect(await answer('poisoned', (number) => number === 4)).toEqual({ reported: [4], left: 1 })
  })

  it('that all fail has ten reported', async () => {
    expect(await answer('all-fail', () => true)).toEqual({ reported: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], left: 10 })
  })
})
