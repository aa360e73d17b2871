import type { Inspection, ListedRow, ListRequest } from '../../core/inspection.js'
import { expectEqual, expectTrue } from './expectation.js'
import { keyed, storeNewKeyed } from './keying.js'
import { bodyOfBytes, DUE_AT, sampleMessage, sampleMessages } from './message-samples.js'
import { type ContractCase, giveBack, idsOf, LEASE_ENDS_AT, promiseOf, type Subject } from './subject.js'

const HOUR = 3_600_000
const BEFORE = DUE_AT - HOUR
const LATER = DUE_AT + HOUR

const promise = (name: string, check: ContractCase['check']): ContractCase => promiseOf('inspection', name, check)

const inspectionOf = ({ persistence }: Subject): Inspection => {
  if (persistence.inspection !== undefined) return persistence.inspection
  throw new Error(`${persistence.name} has no inspection: give { without: ['inspection'] } to leave this out`)
}

const request = (options: Partial<ListRequest> = {}): ListRequest => ({
  dueFrom: BEFORE,
  dueBefore: LATER,
  now: BEFORE,
  limit: 100,
  ...options,
})

const listIds = async (subject: Subject, options: Partial<ListRequest> = {}) =>
  idsOf((await inspectionOf(subject).list(request(options))).rows)

/** All pages, each of so many rows. */
const listAll = async (subject: Subject, options: Partial<ListRequest>): Promise<ListedRow[]> => {
  const rows: ListedRow[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < 100; pages++) {
    const page = await inspectionOf(subject).list(request({ ...options, ...(cursor !== undefined && { cursor }) }))
    expectTrue(`a page of ${page.rows.length} rows`, page.rows.length <= (options.limit ?? 100))
    rows.push(...page.rows)
    cursor = page.cursor
    if (cursor === undefined) return rows
  }
  throw new Error('the list has no end')
}

const lists: readonly ContractCase[] = [
  promise('rows are listed in the order of their instants across the shards, page by page', async (subject) => {
    await subject.persistence.coordination?.growShards(3)
    const messages = sampleMessages(41, 'row', (index) => ({ dueAt: DUE_AT + (index >> 1), shard: (index * 2) % 3 }))
    await subject.storeNew(...messages)
    for (const limit of [1, 7, 41, 100]) {
      const rows = await listAll(subject, { limit })
      const instants = rows.map(({ dueAt }) => dueAt)
      expectEqual(
        `the order by ${limit}`,
        instants,
        [...instants].sort((one, other) => one - other),
      )
      expectEqual(`the rows by ${limit}`, idsOf(rows).sort(), idsOf(messages))
    }
  }),
  promise('a window has its first instant and not its last', async (subject) => {
    await subject.storeNew(...sampleMessages(5, 'row', (index) => ({ dueAt: DUE_AT + index })))
    const found = await listIds(subject, { dueFrom: DUE_AT + 1, dueBefore: DUE_AT + 3 })
    expectEqual('the rows', found, ['row-01', 'row-02'])
    expectEqual('an empty window', await listIds(subject, { dueFrom: DUE_AT + 1, dueBefore: DUE_AT + 1 }), [])
  }),
  promise('a listed row tells what it is', async (subject) => {
    const envelope = { correlationId: 'conversation-9' }
    const small = sampleMessage({ id: 'small', envelope: { kind: 'event', name: 'orders/placed', ...envelope } })
    const large = sampleMessage({ id: 'large', dueAt: DUE_AT + 1, body: bodyOfBytes(5_000), envelope })
    const copy = sampleMessage({ id: 'm', rowId: 'm~billing~2', dueAt: DUE_AT + 2, target: 'billing', attempt: 2 })
    await subject.storeNew(small, large, copy)
    await storeNewKeyed(subject, keyed('keyed', { dueAt: DUE_AT + 3 }))
    const { rows } = await inspectionOf(subject).list(request())
    const told = rows.map(({ bytes, ...row }) => ({ ...row, isLarge: bytes > 1_024 }))
    const plain = { shard: 0, state: 'waiting', perhapsPublished: false, failures: 0, attempt: 1, isLarge: false }
    const sent = { ...plain, kind: 'command', name: 'orders/place', correlationId: 'conversation-1' }
    expectEqual('the rows', told, [
      { ...sent, rowId: 'small', dueAt: DUE_AT, kind: 'event', name: 'orders/placed', ...envelope },
      { ...sent, rowId: 'large', dueAt: DUE_AT + 1, isLarge: true, ...envelope },
      { ...sent, rowId: 'm~billing~2', dueAt: DUE_AT + 2, target: 'billing', attempt: 2 },
      { ...sent, rowId: 'keyed', dueAt: DUE_AT + 3, key: 'invoice 17#/é' },
    ])
  }),
  promise('a listed row tells who holds it, and from when on it may be claimed', async (subject) => {
    await subject.storeNew(...sampleMessages(4, 'row'))
    const { claims } = await subject.claim(DUE_AT)
    const [, unsure, failed, settled] = claims
    if (unsure) await subject.release(giveBack(unsure, DUE_AT + 9, { published: 'perhaps' }))
    if (failed) await subject.release(giveBack(failed, DUE_AT + 90, { failures: 2 }))
    if (settled) await subject.settle(settled)
    const stateAt = async (now: number) =>
      (await inspectionOf(subject).list(request({ now }))).rows.map(
        ({ state, notBefore, perhapsPublished, failures }) => [
          ...[state, notBefore === undefined ? undefined : notBefore - DUE_AT, perhapsPublished, failures],
        ],
      )
    const [leasedUntil] = [LEASE_ENDS_AT - DUE_AT]
    expectEqual('while it is leased', await stateAt(DUE_AT), [
      ['leased', leasedUntil, false, 0],
      ['waiting', 9, true, 0],
      ['waiting', 90, false, 2],
    ])
    expectEqual('afterwards', (await stateAt(LEASE_ENDS_AT))[0], ['waiting', leasedUntil, true, 0])
  }),
  promise('recalled rows are listed only where they are accepted, with what they were found by', async (subject) => {
    const envelope = { correlationId: 'conversation-9' }
    const [one, two] = [sampleMessage({ id: 'one', envelope }), keyed('two', { body: bodyOfBytes(5_000), envelope })]
    await subject.storeNew(one, sampleMessage({ id: 'three' }))
    await storeNewKeyed(subject, two)
    await subject.recall(one, BEFORE)
    await subject.recall(two, BEFORE)
    expectEqual('the others', await listIds(subject), ['three'])
    const { rows } = await inspectionOf(subject).list(request({ accepts: ({ state }) => state === 'recalled' }))
    expectEqual(
      'the recalled',
      rows.map(({ rowId, name, correlationId, key }) => [rowId, name, correlationId, key]),
      [
        ['one', 'orders/place', 'conversation-9', undefined],
        ['two', 'orders/place', 'conversation-9', 'invoice 17#/é'],
      ],
    )
  }),
  promise('what is accepted is listed, up to the limit, however many rows are not', async (subject) => {
    const messages = sampleMessages(60, 'row', (index) => ({ dueAt: DUE_AT + index }))
    await subject.storeNew(...messages)
    const accepts = ({ rowId }: ListedRow) => rowId.endsWith('7')
    const expected = idsOf(messages).filter((id) => id.endsWith('7'))
    for (const limit of [1, 2, 100])
      expectEqual(`by ${limit}`, idsOf(await listAll(subject, { limit, accepts })), expected)
  }),
  promise('a moved row is listed once, where it is', async (subject) => {
    const message = sampleMessage({ id: 'one' })
    await subject.storeNew(message)
    if (subject.persistence.rescheduleOutgoingMessage === undefined) return
    await subject.reschedule(message, DUE_AT + 5, BEFORE)
    const { rows } = await inspectionOf(subject).list(request())
    expectEqual(
      'the rows',
      rows.map(({ rowId, dueAt, firstDueAt }) => [rowId, dueAt, firstDueAt]),
      [['one', DUE_AT + 5, DUE_AT]],
    )
  }),
  promise('dead rows and empty stores have no list', async (subject) => {
    expectEqual('nothing', await inspectionOf(subject).list(request()), { rows: [] })
    await subject.storeNew(sampleMessage({ id: 'one' }))
    const dead = { reason: 'refused', diedAt: DUE_AT }
    await subject.release(giveBack(await subject.claimOne(DUE_AT), DUE_AT, { dead }))
    expectEqual('the rows', await listIds(subject), [])
  }),
  promise('what a window costs is told, for all its rows', async (subject) => {
    await subject.storeNew(...sampleMessages(30, 'row', (index) => ({ dueAt: DUE_AT + index })))
    const cost = await inspectionOf(subject).estimate({ dueFrom: DUE_AT + 10, dueBefore: LATER })
    expectEqual('the rows', [cost.rows, cost.isLowerBound], [20, false])
    expectTrue(`read units ${cost.readUnits}`, cost.readUnits >= 0)
    const empty = await inspectionOf(subject).estimate({ dueFrom: LATER, dueBefore: LATER })
    expectEqual('of nothing', empty.rows, 0)
  }),
]

/** What operators see of rows promises. */
export const inspectingCases: readonly ContractCase[] = lists
