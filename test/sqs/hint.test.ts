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

  it('is one for the rows of one flush that are due at once, and one more for a row that comes after it began', async () => {
    takeMessages()
    const { hint, sent } = hintsTo()
    const flush = Promise.all([900, 0, 1900].map((aheadMs) => hint({ shard: 0, dueAt: NOW + aheadMs, now: NOW })))
    const otherShard = hint({ shard: 1, dueAt: NOW + 500, now: NOW })
    await Promise.resolve()
    await Promise.resolve()
    const later = hint({ shard: 0, dueAt: NOW + 500, now: NOW })
    await Promise.all([flush, otherShard, later])
    expect(
      sent()
        .map(({ shard }) => shard)
        .sort(),
    ).toEqual([0, 0, 1])
  })

  it('leaves no row without a look that comes after it was stored and before it is due, and reaches it', async () => {
    /** How far the waker looks ahead. */
    const LOOK_MS = 2500
    const rows = fc.array(
      fc.record({
        /** Whether a turn ends before this row, and how much time passes then. */
        afterMs: fc.option(fc.integer({ min: 0, max: 3000 }), { nil: undefined }),
        aheadMs: fc.integer({ min: 0, max: 8000 }),
        shard: fc.integer({ min: 0, max: 1 }),
      }),
      { minLength: 1, maxLength: 40 },
    )
    await fc.assert(
      fc.asyncProperty(rows, async (steps) => {
        const looks: { shard: number; at: number }[] = []
        const client = new SQSClient({ region: 'us-east-1' })
        let now = NOW
        vi.spyOn(client, 'send').mockImplementation(async (command: unknown) => {
          const { DelaySeconds = 0, MessageBody = '' } = (command as SendMessageCommand).input
          looks.push({ shard: JSON.parse(MessageBody).shard, at: now + DelaySeconds * 1000 })
        })
        const hint = sqsWakeHint({ queueUrl: QUEUE_URL, client })
        const stored: { now: number; dueAt: number; shard: number; looksBefore: number }[] = []
        const hinting: Promise<void>[] = []
        for (const { afterMs, aheadMs, shard } of steps) {
          if (afterMs !== undefined) {
            await Promise.all(hinting)
            now += afterMs
          }
          stored.push({ now, dueAt: now + aheadMs, shard, looksBefore: looks.length })
          hinting.push(hint({ shard, dueAt: now + aheadMs, now }))
        }
        await Promise.all(hinting)
        for (const row of stored) {
          const inTime = looks.some(({ shard, at }, order) => {
            // A look at the very instant of storing counts only if it was asked for afterwards.
            if (at === row.now && order < row.looksBefore) return false
            const leadMs = row.dueAt - at
            const isEarlyEnough = row.dueAt - row.now < 1000 ? at === row.now : leadMs >= 1000
            return shard === row.shard && at >= row.now && isEarlyEnough && leadMs <= LOOK_MS
          })
          expect(inTime, JSON.stringify({ row, looks })).toBe(true)
        }
        // And it is sparing: no more than three looks of a shard in any second.
        for (const look of looks) {
          const near = looks.filter(({ shard, at }) => shard === look.shard && at >= look.at && at < look.at + 1000)
          if (stored.every(({ now: at, dueAt }) => dueAt - at >= 2000)) expect(near.length).toBeLessThanOrEqual(3)
        }
      }),
      { numRuns: 500 },
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
