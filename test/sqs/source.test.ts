import { ChangeMessageVisibilityBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../lib/core/observation.js'
import type { IncomingRecord } from '../../lib/core/transport.js'
import { sqsSource } from '../../lib/sqs/source.js'
import { gate, numbered, setUpReceiving } from './receiving.js'

const { messaging, receive, sendAll, countMessages } = setUpReceiving()

describe('receiving', () => {
  it('hands out batches of up to ten with their attributes, and acknowledges them', async () => {
    const { queueUrl } = await messaging().addQueue({ receiver: 'batches' })
    await sendAll(queueUrl, numbered(12))
    await messaging().sqs.send(
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
    const { queueUrl, deadLetterUrl } = await messaging().addQueue({
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
    const [dead] = await messaging().drain(deadLetterUrl, 1)
    expect(dead?.Body).toBe('{"n":2}')
    expect(seen.sort()).toEqual([...numbered(4), '{"n":2}'].sort())
    expect(await countMessages(queueUrl)).toEqual({ visible: 0, hidden: 0 })
  })

  it('acknowledges nothing when the handling throws, and goes on', async () => {
    const { queueUrl } = await messaging().addQueue({ receiver: 'throwing', visibilitySeconds: 1 })
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
    const { queueUrl } = await messaging().addQueue({ receiver: 'concurrent' })
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
    const { queueUrl } = await messaging().addQueue({ receiver: 'hidden' })
    await sendAll(queueUrl, numbered(1))
    const sending = vi.spyOn(messaging().sqs, 'send')
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

describe('the client that the source makes', () => {
  it('uses the endpoint of the environment rather than the host of the queue', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_SQS', messaging().endpoint)
    const { queueUrl } = await messaging().addQueue({ receiver: 'environment' })
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
