import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDynamoDbClient } from '../../lib/dynamodb/client.js'
import { type DynamoDbPersistence, dynamoDbPersistence } from '../../lib/dynamodb/persistence.js'
import { freePort } from '../../lib/local/emulators/emulator.js'
import { DUE_AT, sampleMessage } from '../../lib/testing/contract/message-samples.js'
import { giveBack } from '../../lib/testing/contract/subject.js'
import { clientOf, startTestDynamoDb, type TestDynamoDb } from '../support/dynamodb-table.js'
import { sdkError, watchClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

const message = sampleMessage({ id: 'one' })
const claim = {
  ...message,
  lease: '000001924800000#l#1#token',
  leaseUntil: DUE_AT,
  bytes: 1,
  attempt: 1,
  claims: 1,
  failures: 0,
}
const look = { now: DUE_AT, dueBefore: DUE_AT, limit: 10, leaseMs: 30_000, shards: [0] }

/** Calls all that a persistence can do; answers the code that each gives. */
const codesOf = async (persistence: DynamoDbPersistence): Promise<Record<string, unknown>> => {
  const thrown = (work: Promise<unknown>) =>
    work.then(
      () => 'no error',
      (error) => error.code,
    )
  const told = async (
    work: Promise<readonly { readonly outcome: string; readonly error?: { readonly code: string } }[]>,
  ) => {
    const [one] = await work
    return one?.error?.code ?? one?.outcome
  }
  return {
    store: await told(persistence.storeOutgoingMessages([message])),
    claim: await thrown(persistence.claimDueOutgoingMessages(look)),
    settle: await told(persistence.deleteOutgoingMessages([claim])),
    release: await told(persistence.releaseOutgoingMessages([giveBack(claim, DUE_AT)])),
    count: await told(persistence.releaseOutgoingMessages([giveBack(claim, DUE_AT, { failures: 3 })])),
    giveUp: await told(
      persistence.releaseOutgoingMessages([giveBack(claim, DUE_AT, { dead: { reason: 'refused', diedAt: DUE_AT } })]),
    ),
    recall: await thrown(persistence.recallOutgoingMessage(message, DUE_AT - 1)),
    backlog: await thrown(persistence.measureBacklog(DUE_AT)),
    dead: await thrown(persistence.inspection.listDead(5)),
    readShards: await thrown(persistence.coordination.readShards()),
    growShards: await thrown(persistence.coordination.growShards(50)),
    readWorker: await thrown(persistence.coordination.readWorker()),
    takeWorker: await thrown(
      persistence.coordination.takeWorker({ owner: 'a', epoch: 1, leaseUntil: 1, stopsAt: 1 }, undefined),
    ),
  }
}

const everything = (code: string) =>
  Object.fromEntries(
    [
      'store',
      'claim',
      'settle',
      'release',
      'count',
      'giveUp',
      'recall',
      'backlog',
      'dead',
      'readShards',
      'growShards',
      'readWorker',
      'takeWorker',
    ].map((name) => [name, code]),
  )

describe('failures of whole requests', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(undefined)
  })
  afterAll(() => emulator.stop())

  test('a table that is not there is a configuration to mend', async () => {
    for (const batching of new Set([emulator.batching, 'single'] as const)) {
      const persistence = dynamoDbPersistence({ tableName: 'no-such-table', client: emulator.client(), batching })
      expect(await codesOf(persistence)).toEqual(everything('persistence.misconfigured'))
    }
  })

  test('a server that is not there is unavailable, and worth another try', async () => {
    const client = clientOf(`http://127.0.0.1:${await freePort()}`, { maxAttempts: 1 })
    for (const batching of ['partiql', 'single'] as const) {
      const persistence = dynamoDbPersistence({ tableName: 'table', client, batching })
      expect(await codesOf(persistence)).toEqual(everything('persistence.unavailable'))
    }
    client.destroy()
  })

  test.each([
    ['AccessDeniedException', 'persistence.access-denied'],
    ['UnrecognizedClientException', 'persistence.access-denied'],
    ['ExpiredTokenException', 'persistence.access-denied'],
    ['CredentialsProviderError', 'persistence.no-credentials'],
    ['ProvisionedThroughputExceededException', 'persistence.unavailable'],
    ['InternalServerError', 'persistence.unavailable'],
    ['TimeoutError', 'persistence.unavailable'],
  ] as const)('%s is %s, in every method', async (name, code) => {
    const { persistence, client } = await openPersistence(emulator, { batching: emulator.batching })
    watchClient(client, () => ({ refuse: sdkError(name) }))
    expect(await codesOf(persistence)).toEqual(everything(code))
  })

  test('an error names the persistence, what it was about to do, and why it could not', async () => {
    const { persistence, client, tableName } = await openPersistence(emulator, { batching: emulator.batching })
    watchClient(client, () => ({ refuse: sdkError('AccessDeniedException', 'no policy allows it') }))
    await expect(persistence.recallOutgoingMessage(message, DUE_AT)).rejects.toThrow(
      `dynamodb:${tableName} may not recall a message: AccessDeniedException: no policy allows it.`,
    )
  })

  test('what was refused for want of permission was surely not stored', async () => {
    const { persistence, client } = await openPersistence(emulator, { batching: emulator.batching })
    watchClient(client, () => ({ refuse: sdkError('AccessDeniedException') }))
    expect(await persistence.storeOutgoingMessages([message])).toMatchObject([{ outcome: 'failed', stored: 'no' }])
  })
})

describe('options', () => {
  test.each([
    [{ tableName: '' }, 'tableName'],
    [{ tableName: 'ab' }, 'tableName'],
    [{ tableName: 'x" WHERE' }, 'tableName'],
    [{ tableName: 'arn:aws:dynamodb:eu-west-1:111122223333:table/postdate' }, 'tableName'],
    [{ tableName: 'table', writeShards: 0 }, 'writeShards'],
    [{ tableName: 'table', writeShards: 1_001 }, 'writeShards'],
    [{ tableName: 'table', writeShards: 2.5 }, 'writeShards'],
    [{ tableName: 'table', batching: 'auto' as 'single' }, 'batching'],
  ])('%j is refused, naming the option', (options, option) => {
    expect(() => dynamoDbPersistence(options)).toThrow(expect.objectContaining({ code: 'options.invalid' }))
    expect(() => dynamoDbPersistence(options)).toThrow(`the option ${option} is`)
  })

  test('the persistence is named for its table, durable, and tells its limit', () => {
    const { name, durable, maxEnvelopeBytes } = dynamoDbPersistence({ tableName: 'orders' })
    expect([name, durable, maxEnvelopeBytes]).toEqual(['dynamodb:orders', true, 390 * 1024])
  })
})

describe('the default client', () => {
  const serve = async (onRequest: (socket: Socket) => void) => {
    let requests = 0
    const server = createServer((request) => {
      requests++
      onRequest(request.socket)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const close = async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
    return { endpoint: `http://127.0.0.1:${port}`, requests: () => requests, close }
  }

  test('makes three attempts', async () => {
    const server = await serve((socket) => socket.destroy())
    const client = createDynamoDbClient({ endpoint: server.endpoint })
    const persistence = dynamoDbPersistence({ tableName: 'table', client })
    await expect(persistence.measureBacklog(DUE_AT)).rejects.toMatchObject({ code: 'persistence.unavailable' })
    expect(server.requests()).toBe(3)
    client.destroy()
    await server.close()
  })

  test('ends a call that is not answered within 5 s', async () => {
    const server = await serve(() => {})
    const client = createDynamoDbClient({ endpoint: server.endpoint, maxAttempts: 1 })
    const persistence = dynamoDbPersistence({ tableName: 'table', client })
    const from = performance.now()
    await expect(persistence.coordination.readWorker()).rejects.toMatchObject({ code: 'persistence.unavailable' })
    expect(performance.now() - from).toBeGreaterThan(4_900)
    expect(performance.now() - from).toBeLessThan(8_000)
    client.destroy()
    await server.close()
  })
})
