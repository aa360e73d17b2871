import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { receiverMetrics } from '../../lib/wiring/metrics.js'
import { readAll } from '../support/dynamodb-table.js'
import { type CloudStage, startCloudStage, type Told } from './cloud-stage.js'
import { commandOf, eventOf } from './functions/messages.js'

const local = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }

let stage: CloudStage
let sqs: SQSClient
let dynamoDb: DynamoDBClient
beforeAll(async () => {
  stage = await startCloudStage([
    { name: 'failing', behaviour: 'alwaysFailing' },
    { name: 'huge', behaviour: 'failingHugely' },
    { name: 'patient', behaviour: 'requeueing' },
    { name: 'outdated', behaviour: 'outdated' },
    { name: 'copy', behaviour: 'dyingAfterCopy' },
    { name: 'copy-once', behaviour: 'dyingAfterCopy', inbox: true },
    { name: 'flush', behaviour: 'dyingBeforeFlush' },
    { name: 'flush-once', behaviour: 'dyingBeforeFlush', inbox: true },
    { name: 'audit', behaviour: 'auditing', messages: ['test/charged'] },
  ])
  sqs = new SQSClient({ ...local, endpoint: stage.cloud.endpoint, useQueueUrlAsEndpoint: false })
  dynamoDb = new DynamoDBClient({ ...local, endpoint: stage.cloud.endpoint })
}, 120_000)
afterAll(async () => {
  sqs?.destroy()
  dynamoDb?.destroy()
  await stage?.stop()
})

const whenTrue = <T>(check: () => Promise<T> | T) => vi.waitFor(check, { timeout: 40_000, interval: 50 })

/** What lies in a receiver's dead-letter queue; hidden from then on. */
const takeDead = async (receiver: string): Promise<readonly Message[]> => {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: stage.deadLetters(receiver),
      MaxNumberOfMessages: 10,
      MessageAttributeNames: ['All'],
      VisibilityTimeout: 600,
    }),
  )
  return Messages
}
const whyOf = ({ MessageAttributes }: Message) => JSON.parse(MessageAttributes?.deadLetter?.StringValue ?? 'null')
const of = (what: string, told: readonly Told[]) => told.filter((one) => one.what === what)
const rowsOf = async (receiver: string) => {
  const items = await readAll(dynamoDb, stage.tableName, 'due#')
  return items.flatMap(({ sk }) => (sk?.S?.includes(`~${receiver}~`) ? [sk.S] : []))
}

describe('through the local cloud', () => {
  it('a handler that always fails runs at 0, 1, 3 and 6 s, though its process is killed in between, and has one dead letter', async () => {
    await stage.send(commandOf('failing')({}))
    for (let attempt = 1; attempt <= 4; attempt++) {
      await whenTrue(() => expect(stage.told('failing')).toHaveLength(attempt))
      expect(stage.cloud.kill('Test/FailingFunction')).toHaveLength(1)
    }
    expect(new Set(stage.cloud.invocations('Test/FailingFunction').map(({ pid }) => pid)).size).toBe(4)
    const told = stage.told('failing')
    expect(told.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4])
    const waits = [1_000, 2_000, 3_000]
    for (const [index, { at, dueAt = 0 }] of told.slice(1).entries()) {
      const failedAt = told[index]?.at ?? 0
      const waitMs = waits[index] ?? 0
      // The wait begins when the handler has failed, some milliseconds after it has told.
      expect(dueAt - failedAt).toBeGreaterThanOrEqual(waitMs)
      expect(dueAt - failedAt).toBeLessThan(waitMs + 500)
      // Never early. Late by the cold start of the killed function, and by what a loaded machine adds.
      expect(at).toBeGreaterThanOrEqual(dueAt)
      expect(at - dueAt).toBeLessThan(8_000)
    }
    const [letter, ...more] = await whenTrue(async () => {
      const letters = await takeDead('failing')
      expect(letters).toHaveLength(1)
      return letters
    })
    expect(more).toEqual([])
    expect(whyOf(letter as Message)).toMatchObject({
      reason: 'failed 4 times, the last in attempt 4: Error: failure 4',
      receiver: 'failing',
      attempt: 4,
      failure: { count: 4, first: { message: 'failure 1', attempt: 1 }, last: { message: 'failure 4', attempt: 4 } },
    })
    expect(await rowsOf('failing')).toEqual([])
  }, 120_000)

  it("a huge error and a body near the limit are one dead letter, under AWS's own rules", async () => {
    const attributes = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`attribute${index}`, `ü${index}`]))
    await stage.send(commandOf('huge')({ text: 'x'.repeat(260_000) }), { attributes })
    const [letter] = await whenTrue(async () => {
      const letters = await takeDead('huge')
      expect(letters).toHaveLength(1)
      return letters
    })
    expect(stage.told('huge').map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    expect(JSON.parse((letter as Message).Body ?? '').text).toHaveLength(260_000)
    expect(whyOf(letter as Message)).toMatchObject({ attempt: 3, failure: { count: 3 } })
    expect(await rowsOf('huge')).toEqual([])
    expect(await takeDead('huge')).toEqual([])
  }, 120_000)

  it('a requeue after 54,524 s is a row 15 h 8 min 44 s ahead', async () => {
    await stage.send(commandOf('patient')({}))
    const [row = ''] = await whenTrue(async () => {
      const rows = await rowsOf('patient')
      expect(rows).toHaveLength(1)
      return rows
    })
    const [{ at } = { at: 0 }] = await whenTrue(() => {
      const told = stage.told('patient')
      expect(told).toHaveLength(1)
      return told
    })
    const aheadMs = Number(row.slice(0, 15)) - at
    expect(aheadMs).toBeGreaterThanOrEqual(54_524_000)
    expect(aheadMs).toBeLessThan(54_524_000 + 2_000)
  }, 120_000)

  it('a message of a newer version waits, with a metric, and its handler does not run', async () => {
    await stage.send(eventOf('outdated', 2)({}))
    await whenTrue(async () => expect(await rowsOf('outdated')).toHaveLength(1))
    await whenTrue(async () => {
      const samples = await stage.cloud.metrics()
      const counted = samples.filter(({ name }) => name === receiverMetrics.newerVersions.name)
      expect(counted.map(({ value, dimensions }) => [value, dimensions.Receiver])).toEqual([[1, 'outdated']])
    })
    expect(stage.told('outdated')).toEqual([])
    expect(await takeDead('outdated')).toEqual([])
  }, 120_000)
})

describe('a receiver killed', () => {
  const killed = ['copy', 'flush', 'copy-once', 'flush-once']
  const sentTo = new Map<string, string>()
  const audited = (receiver: string) => stage.told('audit').filter((one) => one.of === receiver)

  beforeAll(async () => {
    for (const receiver of killed) sentTo.set(receiver, (await stage.send(commandOf(receiver)({}))).messageId)
    for (const receiver of killed) await whenTrue(() => expect(audited(receiver).length).toBeGreaterThan(0))
    // A second delivery would come within the visibility time-out of 6 s, or when the copy of the first is due.
    await new Promise((resolve) => setTimeout(resolve, 10_000))
  }, 120_000)

  it.each(killed)('at "%s" delivers at least once, under one id, and loses no send', (receiver) => {
    const told = stage.told(receiver)
    const functionName = `Test/${receiver.replace(/(^|-)(\w)/g, (_, __, letter: string) => letter.toUpperCase())}Function`
    expect(stage.cloud.invocations(functionName).filter(({ outcome }) => outcome === 'crashed')).toHaveLength(1)
    expect(of('succeeded', told).length).toBeGreaterThanOrEqual(1)
    expect(new Set(told.map(({ messageId }) => messageId))).toEqual(new Set([sentTo.get(receiver)]))
    // However often it went out, what it sent is one message.
    expect(new Set(audited(receiver).map(({ messageId }) => messageId)).size).toBe(1)
  })

  it.each(['copy-once', 'flush-once'])('at "%s", with an inbox, has exactly one successful run', (receiver) => {
    const told = stage.told(receiver)
    expect(of('succeeded', told)).toHaveLength(1)
    // An attempt that has failed is not run again; one that had not ended is.
    expect(of('ran', told).map(({ attempt }) => attempt)).toEqual(receiver === 'copy-once' ? [1, 2] : [1, 1])
  })

  it('at "copy", without an inbox, runs its first attempt again, and then succeeds twice', () => {
    const told = stage.told('copy')
    expect(of('ran', told).filter(({ attempt }) => attempt === 1).length).toBeGreaterThanOrEqual(2)
    expect(of('succeeded', told).length).toBeGreaterThanOrEqual(2)
  })

  it('was denied nothing by IAM', () => {
    expect(stage.cloud.denials()).toEqual([])
  })
})
