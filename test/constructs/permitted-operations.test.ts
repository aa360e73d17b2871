import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  dispatcherPermissions,
  managePermissions,
  recallPermissions,
  senderPermissions,
  type TablePermission,
  wakerPermissions,
} from '../../lib/constructs/permissions.js'
import { formatHandle } from '../../lib/core/handle.js'
import { createOperator } from '../../lib/core/operator.js'
import type { OutgoingMessage } from '../../lib/core/persistence.js'
import { dynamoDbAccess } from '../../lib/local/access/dynamodb-access.js'
import { bodyOfBytes, DUE_AT, sampleMessage } from '../../lib/testing/contract/message-samples.js'
import { createSubject, giveBack, type Subject } from '../../lib/testing/contract/subject.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'
import { sdkError, watchClient } from '../dynamodb/client-watch.js'
import { type OpenPersistence, openPersistence } from '../dynamodb/open-persistence.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'

const BEFORE = DUE_AT - 60_000
const HOUR_MS = 3_600_000
const KEY = 'reminder-42'

const fits = (partition: string, pattern: string): boolean =>
  pattern.endsWith('*') ? partition.startsWith(pattern.slice(0, -1)) : partition === pattern

const isAllowed = (permissions: readonly TablePermission[], action: string, keys: readonly string[]): boolean =>
  permissions.some(
    ({ actions, partitions }) =>
      actions.includes(action) && keys.every((key) => partitions.some((one) => fits(key, one))),
  )

const samples = (options: { readonly id: string; readonly key?: string }) => [
  sampleMessage(options),
  sampleMessage({ ...options, body: bodyOfBytes(3_000) }),
]

/** Moves a message by a process that ends at its nth call. */
const breakOff = ({ client }: OpenPersistence, nth: number, move: () => Promise<unknown>) => {
  let made = 0
  watchClient(client, () => (++made < nth ? undefined : { refuse: sdkError('Ended') }))
  return move().catch(() => {})
}

const deliverAll = async (role: Subject): Promise<string[]> => {
  const delivered: string[] = []
  for (let pass = 0; pass < 4; pass++) {
    const { claims } = await role.claim(DUE_AT + HOUR_MS)
    delivered.push(...claims.map(({ rowId }) => rowId))
    await role.settle(...claims)
  }
  return delivered
}

// Grants are for requests with PartiQL, which the functions of the constructs send.
describe.skipIf(whyNoDynoxide() !== undefined)('a role may do what it is for', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb('dynoxide')
  })
  afterAll(() => emulator.stop())

  /** A table, and a persistence that may do what the permissions say: everything else is refused and noted. */
  const openFor = async (permissions: readonly TablePermission[]) => {
    const open = await openPersistence(emulator)
    const client = emulator.client()
    const refused: string[] = []
    watchClient(client, ({ command, input }) => {
      const tables = { arnOf: (table: string) => table, partitionKeyOf: () => 'pk' }
      const accesses = dynamoDbAccess(command.replace(/Command$/, ''), input, tables) ?? []
      if (accesses.length === 0) refused.push(`${command} is not known`)
      const before = refused.length
      for (const { action, context } of accesses) {
        const keys = [context?.['dynamodb:LeadingKeys'] ?? []].flat()
        if (!isAllowed(permissions, action, keys)) refused.push(`${action} of ${keys.join(' ')}`)
      }
      return refused.length === before ? undefined : { refuse: sdkError('AccessDeniedException') }
    })
    const persistence = open.beside({ client })
    return { ...open, persistence, by: open.persistence, role: createSubject(persistence), refused }
  }

  const [thin, thick] = samples({ id: 'one' }) as [OutgoingMessage, OutgoingMessage]

  describe.each([
    ['thin', thin],
    ['thick', thick],
  ])('a recall of a %s message', (_, message) => {
    it('that waits, was recalled, was never there, is gone or dead', async () => {
      const { subject, role, refused } = await openFor(recallPermissions)
      const [gone, dead] = [
        { ...message, rowId: 'gone' },
        { ...message, rowId: 'dead' },
      ]
      expect(await role.recall({ ...message, rowId: 'never' }, BEFORE)).toBe('not-found')
      expect(await role.recall({ ...message, rowId: 'never', dueAt: BEFORE }, DUE_AT)).toBe('too-late')
      await subject.storeNew(message)
      expect(await role.recall(message, BEFORE)).toBe('recalled')
      expect(await role.recall(message, BEFORE)).toBe('already-recalled')
      await subject.storeNew(gone)
      await subject.settle(await subject.claimOne(DUE_AT))
      expect(await role.recall(gone, DUE_AT)).toBe('too-late')
      await subject.storeNew(dead)
      const death = { dead: { reason: 'a test', diedAt: DUE_AT } }
      await subject.release(giveBack(await subject.claimOne(DUE_AT), DUE_AT, death))
      expect(await role.recall(dead, DUE_AT)).toBe('recalled')
      expect(refused).toEqual([])
    })

    it('that was moved, under its key too', async () => {
      const { subject, persistence, by, role, refused } = await openFor(recallPermissions)
      await subject.storeNew(message)
      await subject.reschedule(message, DUE_AT + HOUR_MS, BEFORE)
      // The pass removes the old row: then only the note of its place tells.
      await subject.claim(DUE_AT + HOUR_MS - 1)
      expect(await role.recall(message, BEFORE)).toBe('recalled')
      const keyed = { ...message, rowId: 'keyed', key: KEY }
      await by.keys.storeUnderKey(keyed, 'keep', BEFORE)
      const found = await persistence.keys.findKey(KEY)
      expect(found).toMatchObject({ rowId: 'keyed' })
      expect(found && (await role.recall(found, BEFORE))).toBe('recalled')
      expect(refused).toEqual([])
    })
  })

  const rescheduled = [thin, thick, sampleMessage({ id: 'one', body: bodyOfBytes(830) })]

  it.each(rescheduled)('a reschedule of what waits, and of what waits under a key', async (message) => {
    const { subject, persistence, by, refused } = await openFor(recallPermissions)
    await subject.storeNew(message)
    const keyed = { ...message, rowId: 'keyed', key: KEY }
    await by.keys.storeUnderKey(keyed, 'keep', BEFORE)
    for (const { shard, dueAt, rowId } of [message, keyed]) {
      const moved = await persistence.rescheduleOutgoingMessage({ shard, dueAt, rowId }, DUE_AT + HOUR_MS, BEFORE)
      expect(moved.outcome).toBe('rescheduled')
    }
    expect(refused).toEqual([])
  })

  it.each(['keep', 'replace', 'replace-payload'] as const)('a send under a key: %s', async (ifScheduled) => {
    for (const message of rescheduled) {
      const { persistence, refused } = await openFor([...senderPermissions, ...recallPermissions])
      const send = (rowId: string, dueAt: number) =>
        persistence.keys.storeUnderKey({ ...message, rowId, dueAt, key: KEY }, ifScheduled, BEFORE)
      expect((await send('one', DUE_AT)).outcome).toBe('stored')
      expect((await send('two', DUE_AT + HOUR_MS)).outcome).toBe(ifScheduled === 'keep' ? 'kept' : 'stored')
      expect(refused).toEqual([])
    }
  })

  it.each([thin, thick])('an operator lists, peeks, puts back, purges and pauses', async (message) => {
    const { subject, by, persistence, refused } = await openFor(managePermissions)
    const operator = createOperator({ name: 'orders', persistence, clock: createVirtualClock(DUE_AT) })
    const keyed = { ...message, rowId: 'keyed', key: KEY }
    await by.keys.storeUnderKey(keyed, 'keep', BEFORE)
    await subject.storeNew(message, { ...message, rowId: 'waits', dueAt: DUE_AT + HOUR_MS })
    const { claims } = await subject.claim(DUE_AT)
    const dead = { reason: 'a test', diedAt: DUE_AT }
    await subject.release(...claims.map((claim) => giveBack(claim, DUE_AT, { dead })))
    const shards = await persistence.coordination.readShards()
    expect(shards.read).toBeGreaterThan(0)
    expect((await operator.list()).messages).toHaveLength(1)
    expect((await operator.estimate()).rows).toBe(1)
    const rows = await operator.listDead()
    expect(rows.map(({ envelope }) => typeof envelope)).toEqual(['object', 'object'])
    const handle = formatHandle({ bus: 'orders', shard: 0, dueAt: DUE_AT, rowId: 'keyed' })
    expect((await operator.peek(handle))?.state).toBe('dead')
    expect((await operator.putBack(handle)).outcome).toBe('put-back')
    expect(await operator.purge({ shard: 0, dueAt: DUE_AT, rowId: 'one' })).toBe(true)
    expect((await operator.pause()).paused).toBe(true)
    expect((await operator.resume()).paused).toBe(false)
    expect(await operator.recallMany({ name: message.envelope.name })).toEqual({ recalled: 2, tooLate: 0 })
    expect(refused).toEqual([])
  })

  it.each([thin, thick])('a send of what is new, there already, another, moved, recalled', async (message) => {
    const { subject, role, refused } = await openFor(senderPermissions)
    expect(await role.store(message)).toEqual(['stored'])
    expect(await role.store(message)).toEqual(['duplicate'])
    const other = { ...message, envelope: { ...message.envelope, body: '{"of":"another"}' } }
    expect(await role.store(other)).toEqual(['conflict'])
    await subject.reschedule(message, DUE_AT + HOUR_MS, BEFORE)
    expect(await role.store(message)).toEqual(['duplicate'])
    await subject.recall(message, BEFORE)
    expect(await role.store(message)).toEqual(['recalled'])
    expect(refused).toEqual([])
  })

  describe.each([
    ['dispatcher', dispatcherPermissions],
    ['waker', wakerPermissions],
  ])('a pass of the %s', (_, permissions) => {
    it.each([thin, thick])('claims, gives back, settles, gives up', async (message) => {
      const { subject, role, refused } = await openFor(permissions)
      await subject.storeNew(message)
      await role.release(giveBack(await role.claimOne(DUE_AT), DUE_AT))
      await role.release(giveBack(await role.claimOne(DUE_AT), DUE_AT, { failures: 1 }))
      await role.settle(await role.claimOne(DUE_AT))
      await subject.storeNew(message)
      const death = { dead: { reason: 'a test', diedAt: DUE_AT } }
      expect(await role.release(giveBack(await role.claimOne(DUE_AT), DUE_AT, death))).toEqual(['settled'])
      expect(refused).toEqual([])
    })

    const calls = Array.from({ length: 9 }, (_call, index) => index + 1)

    it.each(calls)('finishes a move that broke off at call %i', async (nth) => {
      for (const message of [thin, thick]) {
        const open = await openFor(permissions)
        await open.subject.storeNew(message)
        await breakOff(open, nth, () => open.subject.reschedule(message, DUE_AT + 1_000, BEFORE))
        expect([await deliverAll(open.role), open.refused]).toEqual([['one'], []])
      }
    })

    it.each(calls)('finishes a send in another’s place that broke off at call %i', async (nth) => {
      for (const message of samples({ id: 'two', key: KEY })) {
        const open = await openFor(permissions)
        await open.beside().keys.storeUnderKey({ ...thin, rowId: 'one', key: KEY }, 'replace', BEFORE)
        const next = { ...message, dueAt: DUE_AT + 1_000, key: KEY }
        await breakOff(open, nth, () => open.by.keys.storeUnderKey(next, 'replace', BEFORE))
        expect([(await deliverAll(open.role)).length, open.refused]).toEqual([1, []])
      }
    })
  })
})
