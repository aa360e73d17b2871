import {
  ChangeMessageVisibilityBatchCommand,
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Clock, systemClock } from '../../lib/core/clock.js'
import { silentLogger } from '../../lib/core/observation.js'
import type { IncomingRecord } from '../../lib/core/transport.js'
import { type SqsSourceOptions, sqsSource } from '../../lib/sqs/source.js'
import { startTestMessaging, type TestMessaging } from '../support/messaging.js'
import { startScriptedServer } from '../support/scripted-server.js'

let messaging: TestMessaging
beforeAll(async () => {
  messaging = await startTestMessaging()
})
afterAll(() => messaging.stop())

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(stops.splice(0).map((stop) => stop()))
})

const receive = (
  options: Partial<SqsSourceOptions> & { queueUrl: string },
  onBatch: (records: readonly IncomingRecord[]) => Promise<readonly string[]>,
) => {
  const stop = sqsSource({ client: messaging.sqs, waitTimeSeconds: 1, logger: silentLogger, ...options }).start(onBatch)
  stops.push(stop)
  return stop
}

const sendAll = async (queueUrl: string, bodies: readonly string[]) => {
  for (let start = 0; start < bodies.length; start += 10)
    await messaging.sqs.send(
      new SendMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: bodies.slice(start, start + 10).map((MessageBody, index) => ({ Id: String(index), MessageBody })),
      }),
    )
}

/** How many messages a queue holds: to be received, and received but not acknowledged. */
const countMessages = async (queueUrl: string) => {
  const { Attributes = {} } = await messaging.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
  )
  return {
    visible: Number(Attributes.ApproximateNumberOfMessages),
    hidden: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
  }
}

/** A promise and what resolves it. */
const gate = () => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), opened }
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `{"n":${index}}`)

describe('receiving', () => {
  it('hands out batches of up to ten with their attributes, and acknowledges them', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'batches' })
    await sendAll(queueUrl, numbered(12))
    await messaging.sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: '{"n":12}',
        MessageAttributes: { messageId: { DataType: 'String', StringValue: 'm12' } },
      }),
    )
    const batches: (readonly IncomingRecord[])[] = []
    const all = gate()
    const stop = receive({ queueUrl }, async (records) => {
      batches.push(records)
      if (batches.flat().length === 13) all.open()
      return []
    })
    await all.opened
    await stop()
    expect(Math.max(...batches.map(({ length }) => length))).toBe(10)
    expect(
      batches
        .flat()
        .map(({ body }) => body)
        .sort(),
    ).toEqual(numbered(13).sort())
    expect(batches.flat().find(({ body }) => body === '{"n":12}')?.attributes).toEqual({ messageId: 'm12' })
    expect(await countMessages(queueUrl)).toEqual({ visible: 0, hidden: 0 })
  })

  it('acknowledges all but those that failed, which come again and in the end go to the dead-letter queue', async () => {
    const { queueUrl, deadLetterUrl } = await messaging.addQueue({
      receiver: 'failing',
      visibilitySeconds: 1,
      maxReceiveCount: 2,
    })
    await sendAll(queueUrl, numbered(4))
    const seen: string[] = []
    const second = gate()
    receive({ queueUrl }, async (records) => {
      seen.push(...records.map(({ body }) => body))
      if (seen.filter((body) => body === '{"n":2}').length === 2) second.open()
      return records.filter(({ body }) => body === '{"n":2}').map(({ recordId }) => recordId)
    })
    await second.opened
    const [dead] = await messaging.drain(deadLetterUrl, 1)
    expect(dead?.Body).toBe('{"n":2}')
    expect(seen.sort()).toEqual([...numbered(4), '{"n":2}'].sort())
    expect(await countMessages(queueUrl)).toEqual({ visible: 0, hidden: 0 })
  })

  it('acknowledges nothing when the handling throws, and goes on', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'throwing', visibilitySeconds: 1 })
    await sendAll(queueUrl, numbered(1))
    const error = vi.fn()
    const handled = gate()
    let runs = 0
    const stop = receive({ queueUrl, logger: { ...silentLogger, error } }, async () => {
      runs++
      if (runs === 1) throw new Error('no luck')
      handled.open()
      return []
    })
    await handled.opened
    await stop()
    expect(error).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining('could not be handled'),
      expect.objectContaining({ reason: 'no luck' }),
    )
    expect(await countMessages(queueUrl)).toEqual({ visible: 0, hidden: 0 })
  })

  it('works on as many batches at one time as it is told', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'concurrent' })
    await sendAll(queueUrl, numbered(30))
    const three = gate()
    let inWork = 0
    const stop = receive({ queueUrl, concurrency: 3 }, async () => {
      inWork++
      if (inWork === 3) three.open()
      await three.opened
      return []
    })
    await three.opened
    await stop()
    expect(await countMessages(queueUrl)).toEqual({ visible: 0, hidden: 0 })
  })

  it('keeps records hidden while their batch is in work', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'hidden' })
    await sendAll(queueUrl, numbered(1))
    const sending = vi.spyOn(messaging.sqs, 'send')
    const renewed = gate()
    receive({ queueUrl, visibilitySeconds: 3 }, async () => {
      await vi.waitFor(
        () =>
          expect(sending.mock.calls.map(([command]) => command)).toContainEqual(
            expect.any(ChangeMessageVisibilityBatchCommand),
          ),
        { timeout: 5000 },
      )
      renewed.open()
      return []
    })
    await renewed.opened
    const renewal = sending.mock.calls
      .map(([command]) => command)
      .find((command) => command instanceof ChangeMessageVisibilityBatchCommand)
    expect((renewal as ChangeMessageVisibilityBatchCommand).input.Entries).toEqual([
      expect.objectContaining({ VisibilityTimeout: 3 }),
    ])
    sending.mockRestore()
  })
})

describe('stopping', () => {
  it('waits for the batch in work, which is acknowledged, and no other is received', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'stopping' })
    await sendAll(queueUrl, numbered(20))
    const started = gate()
    const mayEnd = gate()
    let runs = 0
    const stop = receive({ queueUrl }, async () => {
      runs++
      started.open()
      await mayEnd.opened
      return []
    })
    await started.opened
    let isStopped = false
    const stopped = stop().then(() => {
      isStopped = true
    })
    // The queue answers in between, so a stop that does not wait would have ended.
    expect(await countMessages(queueUrl)).toEqual({ visible: 10, hidden: 10 })
    expect(isStopped).toBe(false)
    mayEnd.open()
    await stopped
    expect(runs).toBe(1)
    expect(await countMessages(queueUrl)).toEqual({ visible: 10, hidden: 0 })
  })

  it('gives back at once what a poll under way still receives', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'giving-back' })
    const sending = vi.spyOn(messaging.sqs, 'send')
    const sent = () => sending.mock.calls.map(([command]) => command)
    const onBatch = vi.fn(async () => [])
    const stop = receive({ queueUrl, waitTimeSeconds: 5 }, onBatch)
    await vi.waitFor(() => expect(sent()).toContainEqual(expect.any(ReceiveMessageCommand)))
    const stopped = stop()
    await sendAll(queueUrl, numbered(3))
    await stopped
    expect(sent()).toContainEqual(expect.any(ChangeMessageVisibilityBatchCommand))
    sending.mockRestore()
    expect(onBatch).not.toHaveBeenCalled()
    expect(await countMessages(queueUrl)).toEqual({ visible: 3, hidden: 0 })
  })

  it('loses nothing and repeats nothing while three sources stop one after the other', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'shared' })
    const sent = numbered(300)
    await sendAll(queueUrl, sent)
    const handled: string[] = []
    const many = gate()
    const sources = Array.from({ length: 3 }, () =>
      receive({ queueUrl, concurrency: 2 }, async (records) => {
        handled.push(...records.map(({ body }) => body))
        if (handled.length >= 60) many.open()
        return []
      }),
    )
    await many.opened
    for (const stop of sources) await stop()
    const { visible, hidden } = await countMessages(queueUrl)
    expect(hidden).toBe(0)
    const left = await messaging.drain(queueUrl, visible)
    expect([...handled, ...left.map(({ Body }) => Body)].sort()).toEqual([...sent].sort())
  })

  it('may be asked for twice, and before the first poll', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'at-once' })
    const sending = vi.spyOn(messaging.sqs, 'send')
    const stop = receive({ queueUrl }, async () => [])
    await Promise.all([stop(), stop()])
    await stop()
    expect(sending).not.toHaveBeenCalled()
    sending.mockRestore()
  })
})

describe('a queue that fails', () => {
  /** Pauses take no time, and are noted. */
  const hurriedClock = (pauses: number[]): Clock => ({
    now: systemClock.now,
    wakeAt(at, callback) {
      pauses.push(Math.round((at - systemClock.now()) / 1000))
      setImmediate(callback)
      return () => {}
    },
  })

  it('is polled again after 1, 2, 4 … 15 seconds, for ever, and from 1 again after a success', async () => {
    const server = await startScriptedServer()
    const client = new SQSClient({ region: 'us-east-1', endpoint: server.endpoint, maxAttempts: 1 })
    const queueUrl = 'https://sqs.us-east-1.amazonaws.com/123456789012/billing'
    const pauses: number[] = []
    const error = vi.fn()
    const done = gate()
    server.answerWith((response) => {
      const { length } = server.requests
      if (length > 9) done.open()
      const json = { 'content-type': 'application/x-amz-json-1.0' }
      if (length === 7) response.writeHead(200, json).end('{}')
      else if (length % 2 === 0) response.socket?.destroy()
      else response.writeHead(403, json).end('{"__type":"AccessDenied"}')
    })
    const stop = receive(
      { queueUrl, client, clock: hurriedClock(pauses), logger: { ...silentLogger, error } },
      async () => [],
    )
    await done.opened
    await stop()
    await server.stop()
    expect(pauses.slice(0, 8)).toEqual([1, 2, 4, 8, 15, 15, 1, 2])
    expect(error).toHaveBeenCalledWith(expect.any(String), expect.objectContaining({ pauseMs: 1000, queueUrl }))
  })

  it('is received from as soon as it is there', async () => {
    const { queueUrl: sibling } = await messaging.addQueue({ receiver: 'sibling' })
    const queueUrl = sibling.replace('sibling', 'created-late')
    const pauses: number[] = []
    const failed = gate()
    const handled = gate()
    receive(
      { queueUrl, clock: hurriedClock(pauses), logger: { ...silentLogger, error: () => failed.open() } },
      async (records) => {
        expect(records.map(({ body }) => body)).toEqual(['{"n":0}'])
        handled.open()
        return []
      },
    )
    await failed.opened
    await messaging.sqs.send(new CreateQueueCommand({ QueueName: 'created-late' }))
    await sendAll(queueUrl, numbered(1))
    await handled.opened
    expect(pauses[0]).toBe(1)
  })

  it('does not hold up a stop that comes in a pause', async () => {
    const failed = gate()
    const stop = receive(
      {
        queueUrl: 'http://sqs.us-east-1.localhost/000000000000/nowhere',
        logger: { ...silentLogger, error: () => failed.open() },
      },
      async () => [],
    )
    await failed.opened
    const startedAt = performance.now()
    await stop()
    expect(performance.now() - startedAt).toBeLessThan(900)
  })

  it('says so when it does not take an acknowledgement, and its records come again', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'unacknowledged', visibilitySeconds: 1 })
    await sendAll(queueUrl, numbered(1))
    const error = vi.fn()
    const client = new SQSClient({
      endpoint: messaging.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      useQueueUrlAsEndpoint: false,
    })
    let deletes = 0
    client.middlewareStack.add(
      (next, context) => (args) => {
        if (context.commandName === 'DeleteMessageBatchCommand' && deletes++ === 0) throw new Error('lost on the way')
        return next(args)
      },
      { step: 'initialize' },
    )
    let runs = 0
    const second = gate()
    const stop = receive({ queueUrl, client, logger: { ...silentLogger, error } }, async () => {
      runs++
      if (runs === 2) second.open()
      return []
    })
    await second.opened
    await stop()
    expect(error).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining('may come again'),
      expect.objectContaining({ reason: expect.stringContaining('lost on the way') }),
    )
    expect(await countMessages(queueUrl)).toEqual({ visible: 0, hidden: 0 })
  })
})

describe('the client that the source makes', () => {
  it('uses the endpoint of the environment rather than the host of the queue', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_SQS', messaging.endpoint)
    const { queueUrl } = await messaging.addQueue({ receiver: 'environment' })
    await sendAll(queueUrl, numbered(1))
    const handled = gate()
    const stop = sqsSource({ queueUrl, waitTimeSeconds: 1, logger: silentLogger }).start(async () => {
      handled.open()
      return []
    })
    await handled.opened
    await stop()
    expect(await countMessages(queueUrl)).toEqual({ visible: 0, hidden: 0 })
  })
})

describe('the options of the source', () => {
  it.each([
    ['waitTimeSeconds', { waitTimeSeconds: 0 }],
    ['waitTimeSeconds', { waitTimeSeconds: 21 }],
    ['concurrency', { concurrency: 0 }],
    ['visibilitySeconds', { visibilitySeconds: 2 }],
    ['visibilitySeconds', { visibilitySeconds: 43_201 }],
  ])('refuse a wrong %s', (option, changes) => {
    expect(() => sqsSource({ queueUrl: 'https://sqs.eu-west-1.amazonaws.com/1/billing', ...changes })).toThrow(
      expect.objectContaining({ code: 'options.invalid', details: expect.objectContaining({ option }) }),
    )
  })

  it('name the source after its queue', () => {
    expect(sqsSource({ queueUrl: 'https://sqs.eu-west-1.amazonaws.com/1/billing' }).name).toBe('sqs:billing')
  })
})
