import { encodeEnvelope, utf8Bytes } from '../../core/envelope.js'
import { expectEqual, expectTrue } from './expectation.js'
import { bodyOfBytes, DUE_AT, sampleMessage, sampleMessages } from './message-samples.js'
import { type ContractCase, idsOf, LEASE_ENDS_AT, promise } from './subject.js'

/** An order that is neither that of the indexes nor its reverse. */
const shuffled = <T>(items: readonly T[]): T[] => items.map((_, index) => items[(index * 7 + 3) % items.length] as T)

const order: readonly ContractCase[] = [
  promise('rows are claimed oldest first, whatever the order they were stored in', async (subject) => {
    const messages = sampleMessages(30, 'row', (index) => ({ dueAt: DUE_AT + index * 13 }))
    await subject.storeNew(...shuffled(messages))
    expectEqual('the order', await subject.claimIds(DUE_AT + 1_000), idsOf(messages))
  }),
  promise('rows are claimed oldest first across the shards, also under a limit', async (subject) => {
    const messages = sampleMessages(24, 'row', (index) => ({ dueAt: DUE_AT + index, shard: (index * 5) % 4 }))
    await subject.storeNew(...shuffled(messages))
    const shards = [0, 1, 2, 3]
    const now = DUE_AT + 1_000
    expectEqual('the oldest ten', await subject.claimIds(now, { shards, limit: 10 }), idsOf(messages.slice(0, 10)))
    expectEqual('the others', await subject.claimIds(now, { shards }), idsOf(messages.slice(10)))
  }),
  promise('rows due at one instant are all claimed, each once, whatever the limit', async (subject) => {
    const messages = sampleMessages(30, 'row')
    await subject.storeNew(...messages)
    const claimed: string[] = []
    for (let look = 0; look < 5; look++) claimed.push(...(await subject.claimIds(DUE_AT, { limit: 7 })))
    expectEqual('the claimed rows', claimed.sort(), idsOf(messages))
  }),
  promise('only the shards asked for are looked at', async (subject) => {
    await subject.storeNew(...sampleMessages(4, 'row', (index) => ({ shard: index })))
    expectEqual('two shards', (await subject.claimIds(DUE_AT, { shards: [1, 3] })).sort(), ['row-01', 'row-03'])
    expectEqual('a shard without rows', await subject.claim(DUE_AT, { shards: [5] }), {
      claims: [],
      nextDueAt: undefined,
      more: false,
    })
  }),
  promise('rows of an ended lease are claimed before younger rows', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'old' }))
    await subject.claimOne(DUE_AT)
    await subject.storeNew(sampleMessage({ id: 'young', dueAt: DUE_AT + 5 }))
    expectEqual('the first', await subject.claimIds(LEASE_ENDS_AT, { limit: 1 }), ['old'])
  }),
]

const bounds: readonly ContractCase[] = [
  promise('the limit is kept, and what it leaves is told', async (subject) => {
    await subject.storeNew(...sampleMessages(7, 'row', (index) => ({ dueAt: DUE_AT + index })))
    const first = await subject.claim(DUE_AT + 10, { limit: 5 })
    expectEqual('the first look', [first.claims.length, first.more], [5, true])
    const second = await subject.claim(DUE_AT + 10, { limit: 5 })
    expectEqual('the second look', [second.claims.length, second.more], [2, false])
  }),
  promise('150 rows are claimed and settled in one go', async (subject) => {
    const messages = sampleMessages(150, 'row', (index) => ({ dueAt: DUE_AT + index }))
    await subject.storeNew(...messages)
    const { claims } = await subject.claim(DUE_AT + 150)
    expectEqual('the rows', idsOf(claims), idsOf(messages))
    const settled = await subject.settle(...claims)
    expectTrue(
      'all are settled',
      settled.every((outcome) => outcome === 'settled'),
    )
    expectEqual('what is left', await subject.claim(LEASE_ENDS_AT + 150), {
      claims: [],
      nextDueAt: undefined,
      more: false,
    })
  }),
  ...[300, 10_240].map((size) =>
    promise(
      `maxBytes is kept with bodies of ${size} bytes, oldest first, and what it leaves is told`,
      async (subject) => {
        const messages = sampleMessages(5, 'row', (index) => ({ dueAt: DUE_AT + index, body: bodyOfBytes(size) }))
        await subject.storeNew(...messages)
        const bytes = utf8Bytes(encodeEnvelope(messages[0]?.envelope ?? sampleMessage({ id: 'none' }).envelope))
        const look = await subject.claim(DUE_AT + 5, { maxBytes: 2 * bytes + 1 })
        expectEqual('the first look', [idsOf(look.claims), look.more], [['row-00', 'row-01'], true])
        const exact = await subject.claim(DUE_AT + 5, { maxBytes: 3 * bytes })
        expectEqual('the second look', idsOf(exact.claims), ['row-02', 'row-03', 'row-04'])
      },
    ),
  ),
  promise('a row larger than maxBytes is claimed alone, so that it never waits for ever', async (subject) => {
    await subject.storeNew(
      sampleMessage({ id: 'large', body: bodyOfBytes(20_000) }),
      sampleMessage({ id: 'small', dueAt: DUE_AT + 1 }),
    )
    const look = await subject.claim(DUE_AT + 1, { maxBytes: 5_000 })
    expectEqual('the first look', [idsOf(look.claims), look.more], [['large'], true])
    expectEqual('the second look', await subject.claimIds(DUE_AT + 1, { maxBytes: 5_000 }), ['small'])
  }),
]

/** What claiming promises of its order and its bounds. */
export const claimOrderCases: readonly ContractCase[] = [...order, ...bounds]
