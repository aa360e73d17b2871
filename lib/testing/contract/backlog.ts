import { expectEqual } from './expectation.js'
import { DUE_AT, sampleMessage, sampleMessages } from './message-samples.js'
import { type ContractCase, giveBack, LEASE_ENDS_AT, promise, type Subject } from './subject.js'

const expectBacklog = async (subject: Subject, now: number, due: number, oldestDueAt: number | undefined, dead = 0) => {
  expectEqual(
    `the backlog at ${now - DUE_AT} ms after the due instant`,
    await subject.persistence.measureBacklog(now),
    {
      due,
      capped: false,
      oldestDueAt,
      dead,
    },
  )
}

/** What the measure of the backlog promises. */
export const backlogCases: readonly ContractCase[] = [
  promise('an empty store has no backlog', (subject) => expectBacklog(subject, DUE_AT, 0, undefined)),
  promise('rows count from their due instant on, not a millisecond before', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }), sampleMessage({ id: 'two', dueAt: DUE_AT + 1 }))
    await expectBacklog(subject, DUE_AT - 1, 0, undefined)
    await expectBacklog(subject, DUE_AT, 1, DUE_AT)
    await expectBacklog(subject, DUE_AT + 1, 2, DUE_AT)
  }),
  promise('rows of all shards count, and the oldest of all is told', async (subject) => {
    await subject.persistence.coordination?.growShards(4)
    await subject.storeNew(...sampleMessages(60, 'row', (index) => ({ dueAt: DUE_AT + index, shard: (index + 2) % 4 })))
    await expectBacklog(subject, DUE_AT + 60, 60, DUE_AT)
  }),
  promise('claimed rows count until they are settled', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }), sampleMessage({ id: 'two', dueAt: DUE_AT + 1 }))
    const claim = await subject.claimOne(DUE_AT)
    await expectBacklog(subject, DUE_AT + 1, 2, DUE_AT)
    await subject.settle(claim)
    await expectBacklog(subject, DUE_AT + 1, 1, DUE_AT + 1)
  }),
  promise('rows given back for later count', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    await subject.release(giveBack(await subject.claimOne(DUE_AT), DUE_AT + 90_000))
    await expectBacklog(subject, DUE_AT, 1, DUE_AT)
  }),
  promise('recalled rows don’t count, nor do recalls of what was never stored', async (subject) => {
    const [one, two] = [sampleMessage({ id: 'one' }), sampleMessage({ id: 'two', dueAt: DUE_AT + 1 })]
    await subject.storeNew(one, two)
    await subject.recall(one, DUE_AT - 1)
    await subject.recall(sampleMessage({ id: 'unknown' }), DUE_AT - 1)
    await expectBacklog(subject, DUE_AT + 1, 1, DUE_AT + 1)
  }),
  promise('dead rows are counted apart from the due ones, in all shards', async (subject) => {
    const shards = [0, 1, 2]
    await subject.persistence.coordination?.growShards(shards.length)
    await subject.storeNew(...sampleMessages(6, 'row', (index) => ({ dueAt: DUE_AT + index, shard: index % 3 })))
    const { claims } = await subject.claim(DUE_AT + 10, { shards, limit: 5 })
    const dead = { reason: 'refused', diedAt: DUE_AT + 20 }
    await subject.release(...claims.map((claim) => giveBack(claim, DUE_AT, { dead })))
    await expectBacklog(subject, LEASE_ENDS_AT, 1, DUE_AT + 5, 5)
  }),
]
