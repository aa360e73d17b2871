import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Envelope, toJsonText } from '../../lib/core/envelope.js'
import type { Publication } from '../../lib/core/transport.js'
import { fromWire, toWire, wireBytes } from '../../lib/core/wire.js'
import { snsTransport } from '../../lib/sns/transport.js'
import { readLambdaRecord, readSqsMessage } from '../../lib/sqs/record.js'
import { startTestMessaging, type TestMessaging, type TestQueue } from '../support/messaging.js'
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js'
import { publicationOf } from './publications.js'

let messaging: TestMessaging
let raw: TestQueue
let wrapped: TestQueue
beforeAll(async () => {
  messaging = await startTestMessaging()
  raw = await messaging.addQueue({ receiver: 'raw' })
  wrapped = await messaging.addQueue({ receiver: 'wrapped', raw: false })
})
afterAll(() => messaging.stop())

/** Text of any UTF-16 units: lone surrogates, U+FFFE, U+FFFF and control characters come often. */
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0xfffe, 0xffff, 0xd800, 0xdfff, 0, 0x7f)))
    .map((units) => String.fromCharCode(...units)),
)
/** JSON knows no negative zero, and Postdate refuses it in content. */
const numbers = fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number))
const values = fc.oneof(fc.constantFrom(0, false, '', null), texts, numbers, fc.boolean())
const maps = <T>(items: fc.Arbitrary<T>) =>
  fc.oneof(
    fc.constant({}),
    fc.dictionary(
      texts.filter((name) => name !== '__proto__'),
      items,
      { noNullPrototype: true },
    ),
  )

const publications: fc.Arbitrary<Publication> = fc
  .record({
    kind: fc.constantFrom('command' as const, 'event' as const),
    payload: fc.oneof(maps(values), fc.array(values)),
    attributes: maps(values),
    stickyAttributes: maps(values),
    headers: maps(texts),
    correlationId: fc.string({ minLength: 1 }),
    sentAt: fc.nat(),
    dueAt: fc.option(fc.nat(), { nil: undefined }),
    attempt: fc.integer({ min: 1, max: 99 }),
    target: fc.option(fc.constantFrom('raw', 'wrapped'), { nil: undefined }),
  })
  .map(({ payload, dueAt, attempt, target, ...envelope }) => ({
    envelope: {
      ...envelope,
      messageId: crypto.randomUUID(),
      name: 'orders/place',
      body: toJsonText({ $name: 'orders/place', $version: 1, payload }),
    },
    delivery: { attempt, ...(dueAt !== undefined && { dueAt }), ...(target !== undefined && { target }) },
  }))

/** What SNS and SQS take. @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const ALLOWED = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u

const byMessageId = (one: Publication, other: Publication) =>
  one.envelope.messageId < other.envelope.messageId ? -1 : 1

describe('a message through SNS and SQS', () => {
  it('is the same at the far end, raw or wrapped, with at most ten attributes, none empty, all of allowed text', async () => {
    const transport = snsTransport({ topicArn: messaging.topicArn, client: messaging.sns })
    await fc.assert(
      fc.asyncProperty(fc.array(publications, { minLength: 1, maxLength: 10 }), async (batch) => {
        expect(await transport.publish(batch)).toEqual(batch.map(() => ({ outcome: 'published' })))
        const received = await messaging.drain(raw.queueUrl, batch.length)
        for (const { Body = '', MessageAttributes = {} } of received) {
          const attributes = Object.values(MessageAttributes)
          expect(attributes.length).toBeLessThanOrEqual(10)
          for (const { DataType, StringValue = '' } of attributes) {
            expect(DataType).toBe('String')
            expect(StringValue).not.toBe('')
            expect(StringValue).toMatch(ALLOWED)
          }
          expect(Body).toMatch(ALLOWED)
        }
        const sent = [...batch].sort(byMessageId)
        expect(received.map(readSqsMessage).map(fromWire).sort(byMessageId)).toEqual(sent)
        const notified = await messaging.drain(wrapped.queueUrl, batch.length)
        expect(notified.map(readSqsMessage).map(fromWire).sort(byMessageId)).toEqual(sent)
        const inLambda = received.map(({ MessageId = '', Body = '', MessageAttributes = {} }) =>
          readLambdaRecord({
            messageId: MessageId,
            body: Body,
            messageAttributes: Object.fromEntries(
              Object.entries(MessageAttributes).map(([name, { StringValue }]) => [name, { stringValue: StringValue }]),
            ),
          }),
        )
        expect(inLambda.map(fromWire).sort(byMessageId)).toEqual(sent)
      }),
      { numRuns: 60 },
    )
  })

  it('never has an eleventh attribute, whatever the envelope holds', () => {
    fc.assert(
      fc.property(publications, ({ envelope, delivery }) => {
        const names = Object.keys(toWire(envelope, delivery).attributes)
        expect(names.length).toBeGreaterThanOrEqual(6)
        expect(names.length).toBeLessThanOrEqual(9)
      }),
    )
  })
})

describe('the bytes of a message', () => {
  const LIMIT = 262_144
  let server: ScriptedServer
  beforeAll(async () => {
    server = await startScriptedServer()
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await server.stop()
  })

  /** Counts a request as SNS does, from what came over the wire: body, and of each attribute its name, type and value. */
  const countEntries = (form: string): number[] => {
    const bytes = new Map<string, number>()
    for (const [key, value] of new URLSearchParams(form)) {
      const [, entry, part = ''] = /^PublishBatchRequestEntries\.member\.(\d+)\.(.*)$/.exec(key) ?? []
      const counts = part === 'Message' || /^MessageAttributes\.entry\.\d+\.(Name|Value\.\w+)$/.test(part)
      if (entry !== undefined && counts) bytes.set(entry, (bytes.get(entry) ?? 0) + Buffer.byteLength(value, 'utf8'))
    }
    return [...bytes.values()]
  }

  const members = (items: string[]) => items.map((item) => `<member>${item}</member>`).join('')

  /** Refuses each entry above the limit. */
  const answerAsSns = () => {
    const counted: number[][] = []
    server.answerWith((response, { body }) => {
      const bytes = countEntries(body)
      counted.push(bytes)
      const ids = bytes.map((count, id) => ({ id, isTooLong: count > LIMIT }))
      const failed = ids.filter(({ isTooLong }) => isTooLong)
      const passed = ids.filter(({ isTooLong }) => !isTooLong)
      response.end(
        `<PublishBatchResponse><PublishBatchResult><Failed>${members(
          failed.map(({ id }) => `<Id>${id}</Id><Code>InvalidParameter</Code><SenderFault>true</SenderFault>`),
        )}</Failed><Successful>${members(
          passed.map(({ id }) => `<Id>${id}</Id><MessageId>m</MessageId>`),
        )}</Successful></PublishBatchResult></PublishBatchResponse>`,
      )
    })
    vi.stubEnv('AWS_ENDPOINT_URL_SNS', server.endpoint)
    return { counted, transport: snsTransport({ topicArn: 'arn:aws:sns:us-east-1:123456789012:orders' }) }
  }
  it('are what goes over the wire, for any text', async () => {
    const { counted, transport } = answerAsSns()
    await fc.assert(
      fc.asyncProperty(fc.array(publications, { minLength: 1, maxLength: 10 }), async (batch) => {
        await transport.publish(batch)
        expect(counted.at(-1)).toEqual(batch.map(({ envelope, delivery }) => wireBytes(toWire(envelope, delivery))))
      }),
    )
  })

  it('decide to the byte: one under and at the limit go, one over is refused', async () => {
    const { counted, transport } = answerAsSns()
    const headers = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
    const bytesOf = (changes: Partial<Envelope>) => {
      const { envelope, delivery } = publicationOf('exact', { headers, ...changes })
      return wireBytes(toWire(envelope, delivery))
    }
    // Ends in a character of four bytes, which is two UTF-16 units.
    const bodyFor = (bytes: number) => `"${'x'.repeat(bytes - bytesOf({ body: '"😀"' }))}😀"`
    const sizes = [LIMIT - 1, LIMIT, LIMIT + 1]
    for (const size of sizes) expect(bytesOf({ body: bodyFor(size) })).toBe(size)
    const outcomes = await Promise.all(
      sizes.map((size) => transport.publish([publicationOf('exact', { headers, body: bodyFor(size) })])),
    )
    expect(outcomes.map(([one]) => one?.outcome)).toEqual(['published', 'published', 'failed'])
    expect(counted.flat().sort()).toEqual(sizes)
  })
})
