import { expectEqual } from './expectation.js'
import { bodyOfBytes, DUE_AT, sampleMessage, sampleMessages } from './message-samples.js'
import { type ContractCase, idsOf, promise } from './subject.js'

const message = sampleMessage({ id: 'one' })

const absent: readonly ContractCase[] = [
  promise(
    'before the due instant an unknown address is not-found, and from then on nothing can be stored there',
    async (subject) => {
      expectEqual('the answer', await subject.recall(message, DUE_AT - 1), 'not-found')
      expectEqual('a second recall', await subject.recall(message, DUE_AT - 1), 'already-recalled')
      expectEqual('the store', await subject.store(message), ['recalled'])
      expectEqual('the store of another message', await subject.store(sampleMessage({ id: 'one', body: '1' })), [
        'recalled',
      ])
      expectEqual('the store of 10 KB', await subject.store(sampleMessage({ id: 'one', body: bodyOfBytes(10_240) })), [
        'recalled',
      ])
      expectEqual('the rows', await subject.claimIds(DUE_AT), [])
    },
  ),
  promise('from the due instant on an unknown address is too-late, and nothing is left behind', async (subject) => {
    expectEqual('the answer', await subject.recall(message, DUE_AT), 'too-late')
    expectEqual('a day later', await subject.recall(message, DUE_AT + 86_400_000), 'too-late')
    await subject.storeNew(message)
    expectEqual('the rows', await subject.claimIds(DUE_AT), ['one'])
  }),
  promise('a settled row is too-late', async (subject) => {
    await subject.storeNew(message)
    await subject.settle(await subject.claimOne(DUE_AT))
    expectEqual('the answer', await subject.recall(message, DUE_AT), 'too-late')
  }),
  promise('a recall at another instant, id or shard harms no row', async (subject) => {
    await subject.storeNew(message)
    for (const other of [
      { dueAt: DUE_AT + 1 },
      { dueAt: DUE_AT - 1 },
      { rowId: 'on' },
      { rowId: 'one~billing~2' },
      { shard: 1 },
    ]) {
      expectEqual(
        `the answer for ${JSON.stringify(other)}`,
        await subject.recall({ ...message, ...other }, DUE_AT - 5),
        'not-found',
      )
    }
    expectEqual('the rows', await subject.claimIds(DUE_AT), ['one'])
  }),
  promise('the recall of one redelivery leaves the others', async (subject) => {
    const copies = [2, 3].map((attempt) =>
      sampleMessage({ id: 'one', rowId: `one~billing~${attempt}`, target: 'billing', attempt }),
    )
    await subject.storeNew(message, ...copies)
    const [second] = copies
    expectEqual('the answer', second && (await subject.recall(second, DUE_AT)), 'recalled')
    expectEqual('the rows', (await subject.claimIds(DUE_AT)).sort(), ['one', 'one~billing~3'])
  }),
]

const withdrawn: readonly ContractCase[] = [
  promise('a recalled row with a body of 10 KB is withdrawn as any other', async (subject) => {
    const large = sampleMessage({ id: 'one', body: bodyOfBytes(10_240) })
    await subject.storeNew(large)
    expectEqual('the answer', await subject.recall(large, DUE_AT - 1), 'recalled')
    expectEqual('a second recall', await subject.recall(large, DUE_AT - 1), 'already-recalled')
    expectEqual('the rows', await subject.claimIds(DUE_AT), [])
  }),
  promise('a recall is not undone by a pass that looks ahead of the due instant', async (subject) => {
    const unknown = sampleMessage({ id: 'two' })
    await subject.storeNew(message)
    await subject.recall(message, DUE_AT - 2_000)
    await subject.recall(unknown, DUE_AT - 2_000)
    await subject.claim(DUE_AT - 1_000, { dueBefore: DUE_AT + 5_000 })
    await subject.claim(DUE_AT - 1, { dueBefore: DUE_AT + 5_000 })
    expectEqual('the stores', await subject.store(message, unknown), ['recalled', 'recalled'])
    expectEqual('a second recall', await subject.recall(message, DUE_AT - 1), 'already-recalled')
    expectEqual('the rows', await subject.claimIds(DUE_AT), [])
  }),
  promise(
    'long after it was due, a pass removes what is left of a recall, and its answer is too-late',
    async (subject) => {
      const unknown = sampleMessage({ id: 'two' })
      await subject.storeNew(message)
      await subject.recall(message, DUE_AT - 1)
      await subject.recall(unknown, DUE_AT - 1)
      const hourLater = DUE_AT + 3_600_000
      await subject.claim(hourLater)
      expectEqual('the answer', await subject.recall(message, hourLater), 'too-late')
      expectEqual('the answer for the unknown', await subject.recall(unknown, hourLater), 'too-late')
    },
  ),
  promise('recalled rows are passed over, and those around them are claimed in order', async (subject) => {
    const messages = sampleMessages(40, 'row', (index) => ({ dueAt: DUE_AT + index }))
    await subject.storeNew(...messages)
    const recalled = messages.filter((_, index) => index % 3 !== 0)
    for (const one of recalled) expectEqual('the answer', await subject.recall(one, DUE_AT), 'recalled')
    expectEqual('the rows', await subject.claimIds(DUE_AT + 40), idsOf(messages.filter((_, index) => index % 3 === 0)))
  }),
]

/** What recalling promises. */
export const recallingCases: readonly ContractCase[] = [...absent, ...withdrawn]
