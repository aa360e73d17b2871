import { createHash } from 'node:crypto'
import { type Message, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Logger, silentLogger } from '../../lib/core/observation.js'
import { sqsWakeHint } from '../../lib/sqs/hint.js'
import { startTestMessaging, type TestMessaging } from '../support/messaging.js'
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js'

let messaging: TestMessaging
let server: ScriptedServer
beforeAll(async () => {
  messaging = await startTestMessaging()
  server = await startScriptedServer()
})
afterAll(async () => {
  await messaging.stop()
  await server.stop()
})
afterEach(() => vi.unstubAllEnvs())

const QUEUE_URL = 'https://sqs.us-east-1.amazonaws.com/123456789012/orders-wake'
const NOW = 1_700_000_000_000

/** Answers as SQS does to SendMessage; the SDK insists on the digest of the body. */
const takeMessages = () =>
  server.answerWith((response, { body }) => {
    const { MessageBody } = JSON.parse(body) as { MessageBody: string }
    const MD5OfMessageBody = createHash('md5').update(MessageBody).digest('hex')
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' })
    response.end(JSON.stringify({ MessageId: 'm', MD5OfMessageBody }))
  })

/** For tests in which no hint may fail. */
const strictLogger: Logger = {
  ...silentLogger,
  warn(message, data) {
    throw new Error(`${message} ${JSON.stringify(data)}`)
  },
}

const hintsTo = (logger: Logger = strictLogger) => {
  vi.stubEnv('AWS_ENDPOINT_URL_SQS', server.endpoint)
  const before = server.requests.length
  return {
    hint: sqsWakeHint({ queueUrl: QUEUE_URL, logger }),
    sent: () =>
      server.requests.slice(before).map(({ body }) => {
        const { DelaySeconds, MessageBody } = JSON.parse(body) as { DelaySeconds: number; MessageBody: string }
        return { delaySeconds: DelaySeconds, ...(JSON.parse(MessageBody) as { shard: number; dueAt: number }) }
      }),
  }
}

describe('a wake hint', () => {
  it('reaches the queue with its shard and due time, not before its delay has passed', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'wake' })
    const now = Date.now()
    await sqsWakeHint({ queueUrl, client: messaging.sqs })({ shard: 3, dueAt: now + 2500, now })
    const receive = async (WaitTimeSeconds: number): Promise<Message[]> =>
      (await messaging.sqs.send(new ReceiveMessageCommand({ QueueUrl: queueUrl, WaitTimeSeconds }))).Messages ?? []
    expect(await receive(0)).toEqual([])
    const [message] = await receive(3)
    expect(JSON.parse(message?.Body ?? '')).toEqual({ shard: 3, dueAt: now + 2500 })
    expect(Date.now()).toBeGreaterThanOrEqual(now + 1000)
  })

  it('is not sent for a row due in more than 130 seconds', async () => {
    takeMessages()
    const { hint, sent } = hintsTo()
    await hint({ shard: 0, dueAt: NOW + 130_001, now: NOW })
    expect(sent()).toEqual([])
    await hint({ shard: 0, dueAt: NOW + 130_000, now: NOW })
    expect(sent()).toEqual([{ shard: 0, dueAt: NOW + 130_000, delaySeconds: 129 }])
  })

  it('serves many rows of one instant and shard at once, and each shard has its own', async () => {
    takeMessages()
    const { hint, sent } = hintsTo()
    await Promise.all(
      Array.from({ length: 500 }, (_, index) => hint({ shard: index % 4, dueAt: NOW + 10_000, now: NOW })),
    )
    expect(
      sent()
        .map(({ shard }) => shard)
        .sort(),
    ).toEqual([0, 1, 2, 3])
  })

  it('is sent for each row that is due at once: one sent lately may have been looked at already', async () => {
    takeMessages()
    const { hint, sent } = hintsTo()
    for (let index = 0; index < 3; index++) await hint({ shard: 0, dueAt: NOW + 500, now: NOW })
    expect(sent().map(({ delaySeconds }) => delaySeconds)).toEqual([0, 0, 0])
  })

  it('leaves no row without a hint that is ahead when it is stored and one to two seconds before it is due', async () => {
    takeMessages()
    const rows = fc.array(
      fc.record({ afterMs: fc.integer({ min: 0, max: 3000 }), aheadMs: fc.integer({ min: 2000, max: 8000 }) }),
      { minLength: 1, maxLength: 40 },
    )
    await fc.assert(
      fc.asyncProperty(rows, async (steps) => {
        const visible: number[] = []
        const client = new SQSClient({ region: 'us-east-1' })
        let now = NOW
        vi.spyOn(client, 'send').mockImplementation(async (command: unknown) => {
          const { DelaySeconds = 0 } = (command as SendMessageCommand).input
          visible.push(now + DelaySeconds * 1000)
        })
        const hint = sqsWakeHint({ queueUrl: QUEUE_URL, client })
        const storedRows: { now: number; dueAt: number }[] = []
        for (const { afterMs, aheadMs } of steps) {
          now += afterMs
          storedRows.push({ now, dueAt: now + aheadMs })
          await hint({ shard: 0, dueAt: now + aheadMs, now })
        }
        for (const row of storedRows)
          expect(
            visible.some((at) => at > row.now && row.dueAt - at >= 1000 && row.dueAt - at < 2000),
            JSON.stringify({ row, visible }),
          ).toBe(true)
      }),
    )
  })
})

describe('a wake hint that fails', () => {
  it('is logged and rejects nothing, and the next row sends its own', async () => {
    const warn = vi.fn()
    const { hint, sent } = hintsTo({ ...silentLogger, warn })
    server.answerWith((response) =>
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end('{"__type":"AccessDenied"}'),
    )
    await Promise.all([1, 2].map(() => hint({ shard: 1, dueAt: NOW + 10_000, now: NOW })))
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.any(String),
      expect.objectContaining({ shard: 1, dueAt: NOW + 10_000, reason: expect.stringContaining('AccessDenied') }),
    )
    takeMessages()
    await hint({ shard: 1, dueAt: NOW + 10_000, now: NOW })
    await hint({ shard: 1, dueAt: NOW + 10_000, now: NOW })
    expect(sent()).toHaveLength(2)
    expect(warn).toHaveBeenCalledTimes(1)
  })

  it('does not hold its send up when the queue does not answer', async () => {
    const warn = vi.fn()
    const { hint } = hintsTo({ ...silentLogger, warn })
    server.answerWith(() => {})
    const startedAt = performance.now()
    await hint({ shard: 0, dueAt: NOW + 5000, now: NOW })
    expect(performance.now() - startedAt).toBeLessThan(5000)
    expect(warn).toHaveBeenCalledOnce()
  })
})

describe('the trace header of Lambda', () => {
  const lineage = 'Root=1-5759e988-bd862e3fe1be46a994272793;Lineage=1:abcdef12:15'

  it('goes with a plain client and never with a hint', async () => {
    takeMessages()
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'sender')
    vi.stubEnv('_X_AMZN_TRACE_ID', lineage)
    const plain = new SQSClient({ region: 'us-east-1', endpoint: server.endpoint })
    await plain.send(new SendMessageCommand({ QueueUrl: QUEUE_URL, MessageBody: '{}' }))
    expect(server.requests.at(-1)?.headers['x-amzn-trace-id']).toBe(lineage)
    const { hint, sent } = hintsTo()
    await hint({ shard: 0, dueAt: NOW + 5000, now: NOW })
    expect(sent()).toHaveLength(1)
    expect(server.requests.at(-1)?.headers).not.toHaveProperty('x-amzn-trace-id')
    const given = new SQSClient({ region: 'us-east-1', endpoint: server.endpoint })
    await sqsWakeHint({ queueUrl: QUEUE_URL, client: given })({ shard: 0, dueAt: NOW + 5000, now: NOW })
    expect(sent()).toHaveLength(2)
    expect(server.requests.at(-1)?.headers).not.toHaveProperty('x-amzn-trace-id')
  })
})
