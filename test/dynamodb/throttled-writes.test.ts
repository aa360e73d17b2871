import { BatchExecuteStatementCommand, BatchGetItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../lib/core/observation.js'
import { readItems } from '../../lib/dynamodb/read-items.js'
import type { Table } from '../../lib/dynamodb/table.js'
import { writeItems } from '../../lib/dynamodb/write-items.js'
import { bodyOfBytes, DUE_AT, sampleMessage, sampleMessages } from '../../lib/testing/contract/message-samples.js'
import { idsOf } from '../../lib/testing/contract/subject.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { watchClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

const BATCH = 'BatchExecuteStatementCommand'

const sizeOf = (input: Readonly<Record<string, unknown>>) => (input.Statements as unknown[]).length

describe.skipIf(whyNoDynoxide() !== undefined)('statements of a batch that fail', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb('dynoxide')
  })
  afterAll(() => emulator.stop())

  /** Fails these statements of every batch of more than one, and so many retries of single ones. */
  const failing = async (code: string, statements: readonly number[], retries = 0) => {
    const waits: number[] = []
    const open = await openPersistence(emulator, { wait: async (ms) => void waits.push(ms) })
    const sizes: number[] = []
    let on = false
    let left = retries
    watchClient(open.client, ({ command, input }) => {
      if (!on || command !== BATCH) return undefined
      sizes.push(sizeOf(input))
      if (sizeOf(input) > 1) return { failStatements: statements, code }
      return left-- > 0 ? { failStatements: [0], code } : undefined
    })
    return {
      ...open,
      waits,
      sizes,
      start: () => {
        on = true
      },
    }
  }

  const passing = [
    'ProvisionedThroughputExceeded',
    'RequestLimitExceeded',
    'ThrottlingError',
    'TransactionConflict',
    'InternalServerError',
  ]

  test.each(passing)(
    '%s is tried again, one by one, after a wait, and each store, claim and settle succeeds',
    async (code) => {
      const { subject, persistence, waits, sizes, start } = await failing(code, [0, 3, 7])
      start()
      const messages = sampleMessages(20, 'row', (index) => ({ dueAt: DUE_AT + index }))
      expect(await subject.store(...messages)).toEqual(messages.map(() => 'stored'))
      const { claims } = await subject.claim(DUE_AT + 20)
      expect(idsOf(claims)).toEqual(idsOf(messages))
      expect(await persistence.deleteOutgoingMessages(claims)).toEqual(claims.map(() => ({ outcome: 'settled' })))
      expect(sizes).toEqual([20, 1, 1, 1, 20, 1, 1, 1, 20, 1, 1, 1])
      expect(waits).toHaveLength(9)
      for (const wait of waits) expect(wait).toBeGreaterThan(0)
      expect(await subject.claimIds(DUE_AT + 86_400_000)).toEqual([])
    },
  )

  test('a statement that stays throttled is a failure of its own, after a bounded number of tries and a bounded wait', async () => {
    const { persistence, subject, waits, sizes, start } = await failing('ThrottlingError', [1], 100)
    start()
    const messages = sampleMessages(3, 'row', (index) => ({ dueAt: DUE_AT + index }))
    const outcomes = await persistence.storeOutgoingMessages(messages)
    expect(outcomes).toMatchObject([
      { outcome: 'stored' },
      { outcome: 'failed', stored: 'no', error: { code: 'persistence.unavailable', retryable: true } },
      { outcome: 'stored' },
    ])
    expect(sizes).toEqual([3, 1, 1, 1, 1, 1])
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThan(2_000)
    const two = sampleMessages(3, 'row', (index) => ({ dueAt: DUE_AT + index })).filter((_, index) => index !== 1)
    const look = await subject.claim(DUE_AT + 5)
    expect([idsOf(look.claims), look.nextDueAt]).toEqual([[two[0]?.rowId], DUE_AT + 5])
  })

  test('a claim that stays throttled is left alone, and the next pass gets it', async () => {
    const { subject, start, logged } = await failing('ThrottlingError', [1], 5)
    await subject.storeNew(...sampleMessages(3, 'row', (index) => ({ dueAt: DUE_AT + index })))
    start()
    const look = await subject.claim(DUE_AT + 5)
    expect([idsOf(look.claims), look.nextDueAt]).toEqual([['row-00', 'row-02'], DUE_AT + 5])
    expect(logged.join()).toContain('ThrottlingError')
    expect(await subject.claimIds(DUE_AT + 5)).toEqual(['row-01'])
  })

  test('a settle that stays throttled is failed, and its claim still holds the row', async () => {
    const { subject, persistence, start } = await failing('ThrottlingError', [0], 5)
    await subject.storeNew(...sampleMessages(2, 'row'))
    const { claims } = await subject.claim(DUE_AT)
    start()
    expect(await persistence.deleteOutgoingMessages(claims)).toMatchObject([
      { outcome: 'failed' },
      { outcome: 'settled' },
    ])
    expect(await subject.settle(...claims)).toEqual(['settled', 'gone'])
  })

  test.each([
    ['AccessDenied', 'persistence.access-denied'],
    ['ResourceNotFound', 'persistence.misconfigured'],
    ['ValidationError', 'persistence.misconfigured'],
    ['ItemCollectionSizeLimitExceeded', 'persistence.unavailable'],
  ] as const)('%s is not tried again, and harms no other', async (code, expected) => {
    const { persistence, sizes, start } = await failing(code, [0])
    start()
    expect(await persistence.storeOutgoingMessages(sampleMessages(3, 'row'))).toMatchObject([
      { outcome: 'failed', stored: 'no', error: { code: expected } },
      { outcome: 'stored' },
      { outcome: 'stored' },
    ])
    expect(sizes).toEqual([3])
  })

  test('a batch that is refused whole for one invalid row is sent again row by row', async () => {
    const { persistence } = await openPersistence(emulator)
    const messages = [
      sampleMessage({ id: 'one' }),
      sampleMessage({ id: 'x'.repeat(1_100) }),
      sampleMessage({ id: 'two' }),
    ]
    expect(await persistence.storeOutgoingMessages(messages)).toMatchObject([
      { outcome: 'stored' },
      { outcome: 'failed', stored: 'no', error: { code: 'persistence.misconfigured' } },
      { outcome: 'stored' },
    ])
  })

  test('no batch has more than 25 statements, two of one item, or more than 2 MB', async () => {
    const { subject, client } = await openPersistence(emulator)
    const batches: { readonly count: number; readonly bytes: number; readonly different: number }[] = []
    watchClient(client, ({ command, input }) => {
      if (command !== BATCH) return undefined
      const statements = (input.Statements as { readonly Parameters: readonly unknown[] }[]).map(({ Parameters }) =>
        JSON.stringify(Parameters),
      )
      const keys = statements.map((text) => text.slice(0, 120))
      batches.push({ count: statements.length, bytes: statements.join().length, different: new Set(keys).size })
      return undefined
    })
    const messages = sampleMessages(60, 'row', (index) => ({
      body: bodyOfBytes(index % 3 === 0 ? 300_000 : 300),
    }))
    await subject.store(...messages, ...messages.slice(0, 30))
    expect(batches.length).toBeGreaterThan(3)
    for (const { count, bytes, different } of batches) {
      expect(count).toBeLessThanOrEqual(25)
      expect(different).toBe(count)
      expect(bytes).toBeLessThan(2.2 * 1024 * 1024)
    }
  })
})

describe('answers that no emulator gives', () => {
  const KEY = { pk: 'due#0', sk: 'one' }

  const mocked = () => {
    const client = new DynamoDBClient({ region: 'us-east-1' })
    const waits: number[] = []
    const table: Table = {
      client,
      tableName: 'table',
      name: 'dynamodb:table',
      batching: 'partiql',
      newToken: () => 'token',
      wait: async (ms) => void waits.push(ms),
      logger: silentLogger,
    }
    return { mock: mockClient(client), table, waits }
  }

  test('success without my register does not count as a claim', async () => {
    const { mock, table } = mocked()
    mock
      .on(BatchExecuteStatementCommand)
      .resolves({ Responses: [{}, { Item: { lease: { S: 'another' } } }], $metadata: { attempts: 1 } })
    const writes = ['one', 'two'].map(
      (sk) => ({ write: 'swap', key: { pk: 'due#0', sk }, seen: 'a', next: 'b' }) as const,
    )
    const results = await writeItems(table, 'claim due messages', writes)
    expect(results).toEqual([
      { result: 'refused', mayBeMine: false },
      { result: 'refused', mayBeMine: false },
    ])
  })

  test('a statement without an answer is tried again, and stays unknown when it never gets one', async () => {
    const { mock, table, waits } = mocked()
    mock.on(BatchExecuteStatementCommand).resolves({ Responses: [], $metadata: { attempts: 1 } })
    const [result] = await writeItems(table, 'claim due messages', [{ write: 'swap', key: KEY, seen: 'a', next: 'b' }])
    expect(result).toMatchObject({ result: 'failed', applied: 'unknown', error: { code: 'persistence.unavailable' } })
    expect(waits).toHaveLength(5)
  })

  test('keys left unprocessed are asked for again until all are read', async () => {
    const { mock, table, waits } = mocked()
    const item = (sk: string) => ({ pk: { S: 'due#0' }, sk: { S: sk } })
    mock
      .on(BatchGetItemCommand)
      .resolvesOnce({ Responses: { table: [item('one')] }, UnprocessedKeys: { table: { Keys: [item('two')] } } })
      .resolvesOnce({ Responses: {}, UnprocessedKeys: { table: { Keys: [item('two')] } } })
      .resolves({ Responses: { table: [item('two')] } })
    const found = await readItems(table, 'claim due messages', [KEY, { pk: 'due#0', sk: 'two' }, KEY])
    expect([...found.values()]).toEqual([item('one'), item('two')])
    // Only the answer without an item is waited for.
    expect(waits).toHaveLength(1)
    expect(mock.commandCalls(BatchGetItemCommand)[0]?.args[0].input.RequestItems?.table?.Keys).toHaveLength(2)
  })

  test('keys that stay unprocessed are an error, and never read as missing', async () => {
    const { mock, table } = mocked()
    mock.on(BatchGetItemCommand).callsFake((input) => ({ UnprocessedKeys: input.RequestItems }))
    await expect(readItems(table, 'claim due messages', [KEY])).rejects.toMatchObject({
      code: 'persistence.unavailable',
    })
  })
})
