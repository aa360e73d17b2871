import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseLease } from '../../lib/core/lease.js'
import type { Batching, Item } from '../../lib/dynamodb/table.js'
import { bodyOfBytes, DUE_AT, sampleMessage } from '../../lib/testing/contract/message-samples.js'
import { giveBack, idsOf } from '../../lib/testing/contract/subject.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { openPersistence } from './open-persistence.js'

const modes: readonly Batching[] = whyNoDynoxide() === undefined ? ['partiql', 'single'] : ['single']

describe.each(modes)('a row that can’t be read harms itself only (%s)', (batching) => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(batching === 'partiql' ? 'dynoxide' : 'dynalite')
  })
  afterAll(() => emulator.stop())

  /** A damaged row between two sound ones. */
  const withDamage = async (damage: (item: Item) => Item, body?: string) => {
    const open = await openPersistence(emulator, { batching })
    const bad = sampleMessage({ id: 'bad', dueAt: DUE_AT + 1, ...(body !== undefined && { body }) })
    const [before, after] = [sampleMessage({ id: 'before' }), sampleMessage({ id: 'after', dueAt: DUE_AT + 2 })]
    await open.subject.storeNew(before, bad, after)
    const item = (await open.items('due#')).find(({ sk }) => sk?.S?.endsWith('#bad')) ?? {}
    await emulator.client().send(new PutItemCommand({ TableName: open.tableName, Item: damage(item) }))
    return { ...open, bad }
  }

  const damages: readonly [string, (item: Item) => Item, RegExp][] = [
    ['a register of nonsense', (item) => ({ ...item, lease: { S: 'nonsense' } }), /register can't be read/],
    ['a register that is a number', (item) => ({ ...item, lease: { N: '5' } }), /register can't be read/],
    ['no register', ({ lease: _, ...item }) => item, /register can't be read/],
    ['an envelope of nonsense', (item) => ({ ...item, envelope: { S: 'nonsense' } }), /envelope can't be read/],
    ['an envelope of null', (item) => ({ ...item, envelope: { S: 'null\n{}' } }), /no JSON object/],
    [
      'an envelope whose correlation id is a list',
      (item) => ({ ...item, envelope: { S: '{"correlationId":["x"]}\n{}' } }),
      /correlationId is no text/,
    ],
    ['no envelope', ({ envelope: _, ...item }) => item, /holds no envelope/],
    ['nothing but its key and register', ({ pk, sk, lease }) => ({ pk, sk, lease }) as Item, /no format version/],
  ]

  describe.each(damages)('%s', (_, damage, why) => {
    test('it is claimed with the reason, among the others, and can be given up', async () => {
      const { subject, persistence, items } = await withDamage(damage)
      const { claims } = await subject.claim(DUE_AT + 5)
      expect(idsOf(claims)).toEqual(['before', 'bad', 'after'])
      const bad = claims.filter(({ rowId }) => rowId === 'bad')
      const [claim] = bad
      if (claim === undefined) throw new Error('the bad row is claimed')
      expect(claim.envelope).toMatch(why)
      expect(parseLease(claim.lease)).toBeDefined()
      expect((await subject.claim(DUE_AT + 5)).claims).toEqual([])
      const dead = { reason: String(claim.envelope), diedAt: DUE_AT + 5 }
      expect(await subject.release(giveBack(claim, DUE_AT, { dead }))).toEqual(['settled'])
      expect(await persistence.inspection.listDead(10)).toMatchObject([{ rowId: 'bad', ...dead }])
      expect((await items('due#')).map(({ sk }) => sk?.S?.split('#')[1]).sort()).toEqual(['after', 'before'])
    })

    test('it can be recalled, and is not stored over', async () => {
      const { subject, bad } = await withDamage(damage)
      expect(['conflict', 'duplicate']).toContain((await subject.store(bad))[0])
      expect(['recalled', 'possibly-delivered']).toContain(await subject.recall(bad, DUE_AT))
      expect(await subject.recall(bad, DUE_AT)).toBe('already-recalled')
      expect(await subject.claimIds(DUE_AT + 5)).toEqual(['before', 'after'])
    })

    test('two claimers never get it both', async () => {
      const { beside, subject } = await withDamage(damage)
      const request = { now: DUE_AT + 5, dueBefore: DUE_AT + 5, limit: 10, leaseMs: 30_000, shards: [0] }
      const looks = await Promise.all([
        subject.claimIds(DUE_AT + 5),
        beside()
          .claimDueOutgoingMessages(request)
          .then(({ claims }) => idsOf(claims)),
      ])
      expect(looks.flat().sort()).toEqual(['after', 'bad', 'before'])
    })
  })

  test('a row of a newer format is left to a dispatcher that knows it, and counts as backlog', async () => {
    const { subject, persistence, bad, items } = await withDamage((item) => ({ ...item, v: { N: '2' } }))
    const { claims, nextDueAt } = await subject.claim(DUE_AT + 5)
    expect([idsOf(claims), nextDueAt]).toEqual([['before', 'after'], DUE_AT + 5 + 60_000])
    expect(await persistence.measureBacklog(DUE_AT + 5)).toMatchObject({ due: 3, oldestDueAt: DUE_AT })
    const kept = (await items('due#')).find(({ sk }) => sk?.S?.endsWith('#bad'))
    expect(kept?.v).toEqual({ N: '2' })
    expect(await subject.recall(bad, DUE_AT)).toBe('recalled')
  })

  test('a missing body is said to be missing', async () => {
    const damage = (item: Item) => ({ ...item, bodyRef: { S: '3000 nowhere' } })
    const { subject } = await withDamage(damage, bodyOfBytes(3_000))
    const { claims } = await subject.claim(DUE_AT + 5)
    expect(claims.map(({ rowId, bytes }) => [rowId, bytes > 0])).toEqual([
      ['before', true],
      ['bad', true],
      ['after', true],
    ])
    expect(claims[1]?.envelope).toMatch(/^the body is missing/)
  })

  test('a row whose register could not be read counts as perhaps published', async () => {
    const { subject, bad } = await withDamage((item) => ({ ...item, lease: { S: 'nonsense' } }))
    const { claims } = await subject.claim(DUE_AT + 5)
    const claim = claims.find(({ rowId }) => rowId === 'bad')
    if (claim === undefined) throw new Error('the bad row is claimed')
    await subject.release(giveBack(claim, DUE_AT + 5))
    expect(await subject.recall(bad, DUE_AT + 5)).toBe('possibly-delivered')
  })

  test('an item whose key is none of ours is passed over', async () => {
    const { subject, tableName } = await withDamage((item) => item)
    const client = emulator.client()
    for (const sk of ['!', '00', 'stray', '000000000000001#'])
      await client.send(new PutItemCommand({ TableName: tableName, Item: { pk: { S: 'due#0' }, sk: { S: sk } } }))
    const look = await subject.claim(DUE_AT + 5)
    expect([idsOf(look.claims), look.nextDueAt]).toEqual([['before', 'bad', 'after'], undefined])
  })
})
