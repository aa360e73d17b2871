import { PublishBatchCommand, SNSClient } from '@aws-sdk/client-sns'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { PublishOutcome } from '../../lib/core/transport.js'
import { freePort } from '../../lib/local/emulators/emulator.js'
import { snsTransport } from '../../lib/sns/transport.js'
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js'
import { publicationOf } from './publications.js'

const topicArn = 'arn:aws:sns:us-east-1:123456789012:orders'
const batch = [publicationOf('a'), publicationOf('b'), publicationOf('c')]

let server: ScriptedServer
beforeAll(async () => {
  server = await startScriptedServer()
})
afterAll(() => server.stop())
afterEach(() => vi.unstubAllEnvs())

/** The transport with the client that it makes for itself, pointed at the server by the environment. */
const transportTo = (endpoint: string, publishTimeoutMs = 5000) => {
  vi.stubEnv('AWS_ENDPOINT_URL_SNS', endpoint)
  return snsTransport({ topicArn, publishTimeoutMs })
}

const successful = (ids: readonly number[]) =>
  ids.map((id) => `<member><Id>${id}</Id><MessageId>x</MessageId></member>`).join('')

const answer = (successfulXml: string, failedXml = '') =>
  `<PublishBatchResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishBatchResult><Failed>${failedXml}</Failed><Successful>${successfulXml}</Successful></PublishBatchResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></PublishBatchResponse>`

const errorXml = (code: string, message: string, type = 'Sender') =>
  `<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>${type}</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>r</RequestId></ErrorResponse>`

const blame = (outcomes: readonly PublishOutcome[]) =>
  outcomes.map((one) => (one.outcome === 'failed' ? `${one.blames} ${one.published}` : one.outcome))

describe('a topic that does not answer', () => {
  it('costs the publish timeout and no more, and is asked once', async () => {
    server.answerWith(() => {})
    const before = server.requests.length
    const startedAt = performance.now()
    const outcomes = await transportTo(server.endpoint, 200).publish(batch)
    expect(performance.now() - startedAt).toBeLessThan(2000)
    expect(blame(outcomes)).toEqual(['topic perhaps', 'topic perhaps', 'topic perhaps'])
    expect(server.requests.length - before).toBe(1)
  })

  it('costs no more when it begins an answer and does not end it', async () => {
    server.answerWith((response) => {
      response.writeHead(200, { 'content-type': 'text/xml' })
      response.write('<PublishBatchResponse>')
    })
    const startedAt = performance.now()
    const outcomes = await transportTo(server.endpoint, 200).publish(batch)
    expect(performance.now() - startedAt).toBeLessThan(2000)
    expect(blame(outcomes)).toEqual(['topic perhaps', 'topic perhaps', 'topic perhaps'])
  })

  it('gets nothing after the time-out when the credentials came too late', async () => {
    server.answerWith((response) => response.writeHead(200).end(answer(successful([0, 1, 2]))))
    let giveCredentials = () => {}
    const client = new SNSClient({
      region: 'us-east-1',
      endpoint: server.endpoint,
      credentials: () =>
        new Promise((resolve) => {
          giveCredentials = () => resolve({ accessKeyId: 'late', secretAccessKey: 'late' })
        }),
    })
    const before = server.requests.length
    const sending = vi.spyOn(client, 'send')
    expect(blame(await snsTransport({ topicArn, client, publishTimeoutMs: 100 }).publish(batch))).toEqual([
      'topic perhaps',
      'topic perhaps',
      'topic perhaps',
    ])
    giveCredentials()
    await expect(sending.mock.results[0]?.value).rejects.toMatchObject({ name: 'AbortError' })
    expect(server.requests.length).toBe(before)
  })
})

describe('a connection', () => {
  it('that breaks after the request blames the topic, perhaps published, without a second try', async () => {
    server.answerWith((response) => response.socket?.destroy())
    const before = server.requests.length
    expect(blame(await transportTo(server.endpoint).publish(batch))).toEqual(Array(3).fill('topic perhaps'))
    expect(server.requests.length - before).toBe(1)
  })

  it('that breaks within the answer blames the topic, perhaps published', async () => {
    server.answerWith((response) => {
      response.writeHead(200, { 'content-type': 'text/xml', 'content-length': '5000' })
      response.write('<PublishBatchResponse>', () => response.socket?.destroy())
    })
    expect(blame(await transportTo(server.endpoint).publish(batch))).toEqual(Array(3).fill('topic perhaps'))
  })

  it('that is refused was surely not used', async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`
    expect(blame(await transportTo(endpoint).publish(batch))).toEqual(Array(3).fill('topic no'))
  })

  it('that is refused at every address of a host was surely not used', async () => {
    const endpoint = `http://localhost:${await freePort()}`
    expect(blame(await transportTo(endpoint).publish(batch))).toEqual(Array(3).fill('topic no'))
  })

  it('to a host that is not found was surely not used', async () => {
    expect(blame(await transportTo('http://sns.invalid').publish(batch))).toEqual(Array(3).fill('topic no'))
  })

  it('is kept open for the next batch', async () => {
    const sockets = new Set<unknown>()
    server.answerWith((response) => {
      sockets.add(response.socket)
      response.writeHead(200).end(answer(successful([0, 1, 2])))
    })
    const transport = transportTo(server.endpoint)
    for (let round = 0; round < 5; round++) await transport.publish(batch)
    expect(sockets.size).toBe(1)
  })
})

describe('an answer', () => {
  it.each([
    ['Throttling', 400, 'topic no'],
    ['Throttled', 429, 'topic no'],
    ['KMSDisabled', 400, 'topic no'],
    ['KMSAccessDenied', 400, 'topic no'],
    ['KMSThrottling', 400, 'topic no'],
    ['AuthorizationError', 403, 'topic no'],
    ['NotFound', 404, 'topic no'],
    ['InvalidParameter', 400, 'request no'],
    ['BatchRequestTooLong', 400, 'request no'],
    ['InternalError', 500, 'topic perhaps'],
    ['ServiceUnavailable', 503, 'topic perhaps'],
  ])('of %s (%i) on the wire means %s', async (code, status, expected) => {
    server.answerWith((response) =>
      response.writeHead(status, { 'content-type': 'text/xml' }).end(errorXml(code, 'no')),
    )
    const before = server.requests.length
    const outcomes = await transportTo(server.endpoint).publish(batch)
    expect(blame(outcomes)).toEqual(Array(3).fill(expected))
    expect(outcomes[0]).toMatchObject({ reason: expect.stringContaining(code) })
    expect(server.requests.length - before).toBe(1)
  })

  it('of a proxy that is no XML means what its status says', async () => {
    server.answerWith((response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway'))
    expect(blame(await transportTo(server.endpoint).publish(batch))).toEqual(Array(3).fill('topic perhaps'))
    server.answerWith((response) => response.writeHead(413).end())
    expect(blame(await transportTo(server.endpoint).publish(batch))).toEqual(Array(3).fill('request no'))
  })

  it('with all three kinds gives each message its own outcome', async () => {
    const failed =
      '<member><Id>1</Id><Code>InvalidParameter</Code><Message>Message too long</Message><SenderFault>true</SenderFault></member>' +
      '<member><Id>2</Id><Code>InternalError</Code><SenderFault>false</SenderFault></member>'
    server.answerWith((response) => response.writeHead(200).end(answer(successful([0]), failed)))
    expect(blame(await transportTo(server.endpoint).publish(batch))).toEqual([
      'published',
      'message no',
      'passing perhaps',
    ])
  })

  it('that does not name a message leaves it perhaps published', async () => {
    server.answerWith((response) => response.writeHead(200).end(answer(successful([2]))))
    expect(blame(await transportTo(server.endpoint).publish(batch))).toEqual([
      'passing perhaps',
      'passing perhaps',
      'published',
    ])
  })

  it('without content says nothing of any message', async () => {
    server.answerWith((response) => response.writeHead(200).end(answer('')))
    expect(blame(await transportTo(server.endpoint).publish(batch))).toEqual(Array(3).fill('passing perhaps'))
  })
})

describe('the trace header of Lambda', () => {
  const lineage = 'Root=1-5759e988-bd862e3fe1be46a994272793;Lineage=1:abcdef12:15'
  const inLambda = () => {
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'dispatcher')
    vi.stubEnv('_X_AMZN_TRACE_ID', lineage)
    server.answerWith((response) => response.writeHead(200).end(answer(successful([0, 1, 2]))))
  }

  it('is sent by a plain client, so its absence below says something', async () => {
    inLambda()
    const client = new SNSClient({ region: 'us-east-1', endpoint: server.endpoint })
    await client.send(new PublishBatchCommand({ TopicArn: topicArn, PublishBatchRequestEntries: [] }))
    expect(server.requests.at(-1)?.headers['x-amzn-trace-id']).toBe(lineage)
  })

  it('is sent neither by the client of the transport nor by one given to it', async () => {
    inLambda()
    const given = new SNSClient({ region: 'us-east-1', endpoint: server.endpoint })
    for (const transport of [transportTo(server.endpoint), snsTransport({ topicArn, client: given })]) {
      expect(blame(await transport.publish(batch))).toEqual(Array(3).fill('published'))
      expect(server.requests.at(-1)?.headers).not.toHaveProperty('x-amzn-trace-id')
    }
  })
})
