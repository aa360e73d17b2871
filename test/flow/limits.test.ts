import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { dynamoDbPersistence, snsTransport } from '../../lib/aws.js'
import { REDELIVERY_RESERVE_BYTES } from '../../lib/core/prepare.js'
import { wireBytes } from '../../lib/core/wire.js'
import { type Bus, createBus, defineCommand, fromWire, type SendOptions, toWire } from '../../lib/index.js'
import { messageBytes } from '../../lib/local/proxy/message-rules.js'
import { readPublishForm } from '../../lib/local/proxy/publish-form.js'
import { readSqsMessage } from '../../lib/sqs/record.js'
import { clientsOf, messagesIn } from '../local/support/clients.js'
import { letTopicSend, queue, subscription, topic } from '../local/support/resources.js'
import { shareCloud, until } from '../local/support/start-cloud.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js'

const Note = defineCommand('flow/note', 1)<{ text: string }>()

/** Text of every length of UTF-8, in all that travels: characters and bytes are never the same number here. */
const options: SendOptions = {
  correlationId: 'Zürich 🚀',
  attributes: { größe: '€€€', zero: 0 },
  stickyAttributes: { tenant: 'ä🚀' },
}

/** So much text, of characters of two, three and four bytes, and then of one, that it has so many bytes. */
const textOfBytes = (bytes: number) => {
  const mixed = 'ß€🚀'.repeat(Math.floor(bytes / 18))
  return mixed + 'x'.repeat(bytes - Buffer.byteLength(mixed))
}

const tooLarge = async (bus: Bus, bytes: number, more: SendOptions) => {
  try {
    await bus.send(Note({ text: textOfBytes(bytes) }), { ...options, ...more })
    throw new Error('it was taken')
  } catch (error) {
    return error as { code: string; details: { bytes: number; maxBytes: number; limit: string; biggest: string } }
  }
}

/** A message that takes exactly so many bytes on the wire; what is around its text is found by the error's own count. */
const messageOf = async (bus: Bus, wireSize: number, more: SendOptions) => {
  const asked = 2_000_000
  const { details } = await tooLarge(bus, asked, more)
  return Note({ text: textOfBytes(asked - (details.bytes - wireSize)) })
}

const LIMIT = 256 * 1024
const SENDER_LIMIT = LIMIT - REDELIVERY_RESERVE_BYTES

describe('the limit of the topic', () => {
  const under = shareCloud({
    ...topic('Messages', { TopicName: 'messages' }),
    ...queue('Notes', { VisibilityTimeout: 600 }),
    ...subscription('ToNotes', 'Messages', 'Notes'),
    ...letTopicSend('Messages', ['Notes']),
  })
  let dynamoDb: TestDynamoDb
  beforeAll(async () => {
    dynamoDb = await startTestDynamoDb(whyNoDynoxide() === undefined ? 'dynoxide' : 'dynalite')
  })
  afterAll(() => dynamoDb.stop())

  const openTransport = () =>
    snsTransport({
      topicArn: 'arn:aws:sns:us-east-1:000000000000:messages',
      client: clientsOf(under.cloud).sns,
    })

  const openBus = async () =>
    createBus({
      name: 'flow',
      transport: openTransport(),
      persistence: dynamoDbPersistence({
        tableName: await dynamoDb.table(),
        client: dynamoDb.client(),
        batching: whyNoDynoxide() === undefined ? 'partiql' : 'single',
      }),
    })

  /** What came out of the queue: the record as a receiver sees it. */
  const receive = () => until(async () => (await messagesIn(under.cloud, 'Notes', 1)).map(readSqsMessage)[0])

  test.each<[string, SendOptions, string]>([
    ['sent at once', {}, 'sent'],
    ['that waited', { deliverAfter: 200 }, 'scheduled'],
  ])(
    'lets a message %s through to its last byte, and the sender hears of one byte more',
    async (_what, more, status) => {
      const bus = await openBus()
      await bus.start()
      try {
        for (const size of [SENDER_LIMIT - 1, SENDER_LIMIT]) {
          const message = await messageOf(bus, size, more)
          const { messageId, status: got } = await bus.send(message, { ...options, ...more })
          expect(got).toBe(status)
          const record = await receive()
          expect(wireBytes(record)).toBe(size)
          expect(JSON.parse(record.body)).toEqual(message)
          expect(fromWire(record).envelope).toMatchObject({ messageId, ...options })
        }
        const { text } = await messageOf(bus, SENDER_LIMIT, more)
        const { code, details } = await tooLarge(bus, Buffer.byteLength(text) + 1, more)
        expect(code).toBe('message.too-large')
        expect(details).toMatchObject({
          bytes: SENDER_LIMIT + 1,
          maxBytes: SENDER_LIMIT,
          limit: 'the transport sns:messages',
          biggest: expect.stringMatching(/^body \(\d+ bytes\)$/),
        })
      } finally {
        await bus.stop()
      }
    },
  )

  test('is what SNS itself takes: one byte under it and at it, and not one over', async () => {
    const envelope = (text: string) => ({
      ...{ messageId: 'exact', kind: 'command' as const, name: 'flow/note', correlationId: 'Zürich 🚀', sentAt: 1 },
      ...{ attributes: { größe: '€' }, stickyAttributes: {}, headers: {}, body: JSON.stringify(Note({ text })) },
    })
    const around = wireBytes(toWire(envelope(''), { attempt: 1 }))
    const transport = openTransport()
    const outcomes: string[] = []
    for (const size of [LIMIT - 1, LIMIT, LIMIT + 1]) {
      const publication = { envelope: envelope(textOfBytes(size - around)), delivery: { attempt: 1 } }
      const [outcome] = await transport.publish([publication])
      outcomes.push(outcome?.outcome ?? 'none')
      if (outcome?.outcome === 'published') expect(wireBytes(await receive())).toBe(size)
    }
    expect(outcomes).toEqual(['published', 'published', 'failed'])
  })
})

describe.skipIf(whyNoDynoxide() !== undefined)('the limit of the store, where the topic takes more', () => {
  const STORE_LIMIT = 390 * 1024 - REDELIVERY_RESERVE_BYTES
  let dynamoDb: TestDynamoDb
  let sns: ScriptedServer
  /** The bytes of each message that arrived, as AWS counts them. */
  const arrived: number[] = []
  beforeAll(async () => {
    ;[dynamoDb, sns] = await Promise.all([startTestDynamoDb('dynoxide'), startScriptedServer()])
    sns.answerWith((response, { body }) => {
      const entries = readPublishForm(new Map(new URLSearchParams(body)))
      arrived.push(...entries.map(messageBytes))
      const members = entries.map(({ id }) => `<member><Id>${id}</Id><MessageId>m</MessageId></member>`)
      response.end(
        `<PublishBatchResponse><PublishBatchResult><Failed/><Successful>${members.join('')}</Successful></PublishBatchResult></PublishBatchResponse>`,
      )
    })
    vi.stubEnv('AWS_ENDPOINT_URL_SNS', sns.endpoint)
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await Promise.all([dynamoDb.stop(), sns.stop()])
  })

  test('lets a message wait to its last byte and go out whole; the sender hears of one byte more', async () => {
    const tableName = await dynamoDb.table()
    const bus = createBus({
      name: 'flow',
      transport: snsTransport({ topicArn: 'arn:aws:sns:us-east-1:123456789012:messages', maxMessageBytes: 1_048_576 }),
      persistence: dynamoDbPersistence({ tableName, client: dynamoDb.client() }),
    })
    const more = { deliverAfter: 200 }
    await bus.start()
    try {
      const sizes = [STORE_LIMIT - 1, STORE_LIMIT]
      for (const size of sizes) await bus.send(await messageOf(bus, size, more), { ...options, ...more })
      await until(() => (arrived.length === sizes.length ? true : undefined))
      expect(arrived.toSorted()).toEqual(sizes)
      const { text } = await messageOf(bus, STORE_LIMIT, more)
      const { code, details } = await tooLarge(bus, Buffer.byteLength(text) + 1, more)
      expect([code, details.bytes, details.maxBytes]).toEqual(['message.too-large', STORE_LIMIT + 1, STORE_LIMIT])
      expect(details.limit).toBe(`the persistence dynamodb:${tableName}`)
      // What does not wait is bound by the topic alone.
      expect((await bus.send(Note({ text: textOfBytes(STORE_LIMIT + 1) }), options)).status).toBe('sent')
    } finally {
      await bus.stop()
    }
  })

  test('is below what DynamoDB itself takes, which this emulator refuses as AWS does', async () => {
    const client = dynamoDb.client()
    const TableName = await dynamoDb.table()
    const put = (bytes: number) =>
      client.send(
        new PutItemCommand({ TableName, Item: { pk: { S: 'a' }, sk: { S: 'b' }, text: { S: 'x'.repeat(bytes) } } }),
      )
    await expect(put(400 * 1024)).rejects.toMatchObject({ name: 'ValidationException' })
    await put(STORE_LIMIT + REDELIVERY_RESERVE_BYTES)
  })
})
