import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOfBytes, DUE_AT, sampleMessage, sampleMessages } from '../../lib/testing/contract/message-samples.js'
import { createSubject, giveBack } from '../../lib/testing/contract/subject.js'
import { startTestDynamoDb, type TestDynamoDb } from '../support/dynamodb-table.js'
import { timeOut, watchClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

const isInsert = (command: string) => command === 'BatchExecuteStatementCommand' || command === 'PutItemCommand'

describe('a store that meets another', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(undefined)
  })
  afterAll(() => emulator.stop())

  const open = () => openPersistence(emulator, { batching: emulator.batching })

  test('finds the key free again after it was taken, and stores', async () => {
    const { subject, client, beside } = await open()
    const message = sampleMessage({ id: 'one' })
    const other = createSubject(beside())
    await other.storeNew(message)
    let inserts = 0
    watchClient(client, ({ command }) =>
      isInsert(command) && ++inserts === 1
        ? {
            after: async () => {
              await other.settle(await other.claimOne(DUE_AT))
            },
          }
        : undefined,
    )
    expect(await subject.store(message)).toEqual(['stored'])
    expect(inserts).toBe(emulator.batching === 'partiql' ? 2 : 1)
    expect(await subject.claimIds(DUE_AT)).toEqual(['one'])
  })

  test('does not store twice what was dispatched before its own answer came', async () => {
    const { subject, client, beside } = await open()
    const other = createSubject(beside())
    let attempts = 0
    watchClient(
      client,
      ({ command }) => {
        if (!isInsert(command)) return undefined
        attempts++
        return attempts === 1 ? { lose: timeOut() } : undefined
      },
      'attempts',
    )
    // The lost answer leaves the row; before the SDK's second attempt is looked up, the row is dispatched.
    let reads = 0
    watchClient(client, ({ command }) =>
      command === 'BatchGetItemCommand' && ++reads === 1
        ? {
            before: async () => {
              await other.settle(await other.claimOne(DUE_AT))
            },
          }
        : undefined,
    )
    expect(await subject.store(sampleMessage({ id: 'one' }))).toEqual(['stored'])
    expect([attempts, reads]).toEqual([2, 1])
    expect(await subject.claimIds(DUE_AT)).toEqual([])
  })

  test('a recall between the body and the row wins, and the message stays withdrawn', async () => {
    const { subject, client, beside, items } = await open()
    const message = sampleMessage({ id: 'one', body: bodyOfBytes(3_000) })
    const recaller = createSubject(beside())
    const answers: string[] = []
    let inserts = 0
    watchClient(client, ({ command }) =>
      isInsert(command) && ++inserts === 1
        ? {
            after: async () => {
              answers.push(await recaller.recall(message, DUE_AT - 1))
            },
          }
        : undefined,
    )
    expect(await subject.store(message)).toEqual(['recalled'])
    expect(answers).toEqual(['not-found'])
    expect(await subject.claimIds(DUE_AT)).toEqual([])
    // The body is never referred to; its TTL takes it.
    for (const body of await items('body#')) expect(body.expiresAt).toBeDefined()
  })

  test('a recall and a store at the same moment end with one answer that both know', async () => {
    for (let round = 0; round < 30; round++) {
      const { subject, beside } = await open()
      const message = sampleMessage({ id: 'one' })
      const recaller = createSubject(beside())
      const [stored, recalled] = await Promise.all([subject.store(message), recaller.recall(message, DUE_AT - 1)])
      expect([
        ['stored', 'recalled'],
        ['recalled', 'not-found'],
      ]).toContainEqual([stored[0], recalled])
      expect(await subject.claimIds(DUE_AT)).toEqual([])
    }
  })

  test('the same message with other headers is a duplicate though its body is another', async () => {
    const { subject } = await open()
    const body = bodyOfBytes(3_000)
    const first = sampleMessage({ id: 'one', body, envelope: { headers: { trace: '1' } } })
    await subject.storeNew(first)
    expect(await subject.store(sampleMessage({ id: 'one', body, envelope: { headers: { trace: '2' } } }))).toEqual([
      'duplicate',
    ])
    expect((await subject.claimOne(DUE_AT)).envelope).toEqual(first.envelope)
  })
})

describe('the backlog', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(undefined)
  })
  afterAll(() => emulator.stop())

  test('is counted over all shards up to a bound, which is told', async () => {
    const { persistence, subject } = await openPersistence(emulator, { batching: emulator.batching })
    const rows = sampleMessages(1_100, 'row', (index) => ({ shard: index % 8, dueAt: DUE_AT + index }))
    await subject.storeNew(...rows.slice(0, 700))
    expect(await persistence.measureBacklog(DUE_AT + 600)).toEqual({
      due: 601,
      capped: false,
      oldestDueAt: DUE_AT,
      dead: 0,
    })
    await subject.storeNew(...rows.slice(700))
    expect(await persistence.measureBacklog(DUE_AT + 2_000)).toMatchObject({ capped: true, oldestDueAt: DUE_AT })
  })

  test('dead rows are listed over all shards and pages, those due first first, without the withdrawn', async () => {
    const { persistence, subject, beside } = await openPersistence(emulator, { batching: emulator.batching })
    const rows = sampleMessages(30, 'row', (index) => ({ shard: index % 8, dueAt: DUE_AT + index }))
    await subject.storeNew(...rows)
    const { claims } = await subject.claim(DUE_AT + 30, { shards: [0, 1, 2, 3, 4, 5, 6, 7] })
    const dead = { reason: 'refused', diedAt: DUE_AT + 50 }
    await subject.release(...claims.map((claim) => giveBack(claim, DUE_AT, { dead })))
    for (const row of rows.slice(0, 9)) await subject.recall(row, DUE_AT + 60)
    const ids = (await beside().inspection.listDead(4)).map(({ rowId }) => rowId)
    expect(ids).toEqual(rows.slice(9, 13).map(({ rowId }) => rowId))
    expect((await persistence.measureBacklog(DUE_AT + 60)).dead).toBe(21)
  })
})
