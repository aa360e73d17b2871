import { SNSClient } from '@aws-sdk/client-sns'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { meterClients } from '../../bench/meter.js'
import { dynamoDbPersistence, snsTransport } from '../../lib/aws.js'
import { createBus, defineCommand, isPostdateError, type SendEntry, type SendOutcome } from '../../lib/index.js'
import { readAll, startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { startTestMessaging, type TestMessaging } from '../support/messaging.js'

const Remind = defineCommand('flow/remind', 1)<{ number: number; note?: unknown }>()

const codeOf = (outcome: SendOutcome | undefined) =>
  outcome?.status === 'failed' && isPostdateError(outcome.error) ? outcome.error.code : outcome?.status

describe.skipIf(whyNoDynoxide() !== undefined)('10,000 messages in one call', () => {
  let dynamoDb: TestDynamoDb
  let messaging: TestMessaging
  beforeAll(async () => {
    ;[dynamoDb, messaging] = await Promise.all([startTestDynamoDb('dynoxide'), startTestMessaging('flow')])
  })
  afterAll(() => Promise.all([dynamoDb.stop(), messaging.stop()]))

  const openBus = async () => {
    const tableName = await dynamoDb.table()
    const client = dynamoDb.client()
    const sns = new SNSClient({
      endpoint: messaging.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    })
    const meter = meterClients(client, sns)
    const bus = createBus({
      name: 'flow',
      persistence: dynamoDbPersistence({ tableName, client }),
      transport: snsTransport({ topicArn: messaging.topicArn, client: sns }),
      sendOnly: true,
    })
    return { bus, meter, rows: () => readAll(dynamoDb.client(), tableName, 'due#') }
  }

  test('with three bad ones among them: 9,997 rows, 400 requests, a unit each, and three typed outcomes', async () => {
    const { bus, meter, rows } = await openBus()
    const startAt = Date.now()
    const entries: SendEntry[] = Array.from({ length: 10_000 }, (_, number) => ({
      message: Remind({ number }),
      deliverAt: new Date(startAt + 3_600_000 + number),
    }))
    entries[17] = { message: Remind({ number: 17 }), deliverAfter: -1 }
    entries[5_000] = { message: Remind({ number: 5_000, note: 'x'.repeat(300_000) }), deliverAfter: 60_000 }
    entries[9_999] = { message: Remind({ number: 9_999, note: new Map() }), deliverAfter: 60_000 }

    const outcomes = await bus.sendAll(entries)

    expect(outcomes).toHaveLength(10_000)
    const bad = [...outcomes.entries()].filter(([, { status }]) => status !== 'scheduled')
    expect(bad.map(([index, outcome]) => [index, codeOf(outcome)])).toEqual([
      [17, 'schedule.invalid-duration'],
      [5_000, 'message.too-large'],
      [9_999, 'message.not-plain-json'],
    ])
    // 9,997 conditional inserts, 25 to a request, and nothing else.
    expect(Object.fromEntries(meter.requests)).toEqual({ 'dynamodb BatchExecuteStatement': 400 })
    expect(meter.units()).toEqual({ written: 9_997, read: 0 })

    const stored = await rows()
    expect(stored).toHaveLength(9_997)
    const dueAts = new Set(stored.map(({ sk }) => Number(sk?.S?.slice(0, 15))))
    const promised = outcomes.flatMap((outcome) => (outcome.status === 'scheduled' ? [outcome.dueAt ?? 0] : []))
    expect(promised.filter((dueAt) => !dueAts.has(dueAt))).toEqual([])
    expect(dueAts.size).toBe(9_997)
  }, 120_000)

  test('that go at once take a request for ten, and those of 100 KB one for two', async () => {
    const { bus, meter } = await openBus()
    await bus.sendAll(Array.from({ length: 95 }, (_, number) => ({ message: Remind({ number }) })))
    expect(Object.fromEntries(meter.requests)).toEqual({ 'sns PublishBatch': 10 })
    meter.reset()
    const note = 'x'.repeat(100_000)
    await bus.sendAll(Array.from({ length: 10 }, (_, number) => ({ message: Remind({ number, note }) })))
    expect(Object.fromEntries(meter.requests)).toEqual({ 'sns PublishBatch': 5 })
  })
})
