import type { Claim } from '../../core/persistence.js'
import { expectEqual } from './expectation.js'
import { DUE_AT, sampleMessage, sampleMessages } from './message-samples.js'
import { type ContractCase, giveBack, LEASE_ENDS_AT, promise, type Subject } from './subject.js'

const hidesNothing = (how: string, prepare: (subject: Subject, claims: readonly Claim[]) => Promise<void>) =>
  promise(`50 overdue rows ${how} don’t hide the one behind them`, async (subject) => {
    await subject.storeNew(...sampleMessages(50, 'front', (index) => ({ dueAt: DUE_AT + index })))
    const { claims } = await subject.claim(DUE_AT + 50)
    await prepare(subject, claims)
    await subject.storeNew(sampleMessage({ id: 'behind', dueAt: DUE_AT + 60 }))
    for (const limit of [10, 1]) {
      const claim = await subject.claimOne(DUE_AT + 60, { limit })
      expectEqual('the row', claim.rowId, 'behind')
      await subject.release(giveBack(claim, DUE_AT + 60))
    }
  })

const waiting: readonly ContractCase[] = [
  hidesNothing('under a dead worker’s lease', async () => {}),
  hidesNothing('given back for later', async (subject, claims) => {
    await subject.release(...claims.map((claim) => giveBack(claim, DUE_AT + 600_000)))
  }),
  hidesNothing('that were recalled', async (subject, claims) => {
    await subject.release(...claims.map((claim) => giveBack(claim, DUE_AT + 50)))
    for (const claim of claims) expectEqual('the recall', await subject.recall(claim, DUE_AT + 50), 'recalled')
  }),
  promise('an empty store has nothing to claim and nothing to wait for', async (subject) => {
    expectEqual('the look', await subject.claim(DUE_AT), { claims: [], nextDueAt: undefined, more: false })
  }),
  promise('nextDueAt is the earliest row to come, of all shards, near or years away', async (subject) => {
    const shards = [0, 1, 2, 3]
    const far = DUE_AT + 3 * 365 * 86_400_000
    await subject.storeNew(sampleMessage({ id: 'far', dueAt: far, shard: 1 }))
    expectEqual('years away', (await subject.claim(DUE_AT, { shards })).nextDueAt, far)
    await subject.storeNew(sampleMessage({ id: 'near', dueAt: DUE_AT + 1_001, shard: 3 }))
    expectEqual(
      'a second away',
      (await subject.claim(DUE_AT, { shards, dueBefore: DUE_AT + 1_000 })).nextDueAt,
      DUE_AT + 1_001,
    )
  }),
  promise('nextDueAt tells when another’s lease ends, or a later row is due, whichever is first', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'held' }), sampleMessage({ id: 'later', dueAt: LEASE_ENDS_AT + 1 }))
    await subject.claimOne(DUE_AT)
    expectEqual('the lease is first', (await subject.claim(DUE_AT + 1)).nextDueAt, LEASE_ENDS_AT)
    await subject.storeNew(sampleMessage({ id: 'sooner', dueAt: LEASE_ENDS_AT - 1 }))
    expectEqual('the row is first', (await subject.claim(DUE_AT + 1)).nextDueAt, LEASE_ENDS_AT - 1)
  }),
  promise('nextDueAt tells when a row that was given back may be claimed', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    await subject.release(giveBack(await subject.claimOne(DUE_AT), DUE_AT + 4_321))
    expectEqual('the instant', (await subject.claim(DUE_AT)).nextDueAt, DUE_AT + 4_321)
  }),
  promise('what was just claimed does not count as waiting', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    const look = await subject.claim(DUE_AT)
    expectEqual('the instant', look.nextDueAt, undefined)
  }),
]

/** What a look promises of the rows that it could not claim. */
export const waitingCases: readonly ContractCase[] = waiting
