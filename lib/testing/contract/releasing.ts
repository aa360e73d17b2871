import { expectEqual } from './expectation.js'
import { bodyOfBytes, DUE_AT, sampleMessage, sampleMessages } from './message-samples.js'
import { type ContractCase, giveBack, idsOf, LEASE_ENDS_AT, promise } from './subject.js'

/** What giving claims back promises. */
export const releasingCases: readonly ContractCase[] = [
  promise('a row given back as of now is claimable at once', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    expectEqual('the release', await subject.release(giveBack(await subject.claimOne(DUE_AT), DUE_AT)), ['settled'])
    expectEqual('the row', await subject.claimIds(DUE_AT), ['one'])
  }),
  promise('a batch of none is released as none', async (subject) => {
    expectEqual('the outcomes', await subject.release(), [])
  }),
  promise('a row given back keeps its content, its target and its attempt', async (subject) => {
    const [small, large] = [300, 10_240].map((size, index) =>
      sampleMessage({
        id: `row-${index}`,
        rowId: `row-${index}~billing~3`,
        body: bodyOfBytes(size),
        dueAt: DUE_AT + index,
        target: 'billing',
        attempt: 3,
      }),
    )
    await subject.storeNew(...[small, large].flatMap((message) => message ?? []))
    const before = await subject.claim(DUE_AT + 1)
    await subject.release(...before.claims.map((claim) => giveBack(claim, DUE_AT + 5, { published: 'perhaps' })))
    const after = await subject.claim(DUE_AT + 5)
    expectEqual(
      'the rows',
      after.claims.map(({ envelope, target, attempt }) => ({ envelope, target, attempt })),
      [small, large].map((message) => ({ envelope: message?.envelope, target: 'billing', attempt: 3 })),
    )
  }),
  promise('a row given back takes its old place in the order', async (subject) => {
    await subject.storeNew(...sampleMessages(3, 'row', (index) => ({ dueAt: DUE_AT + index })))
    const claim = await subject.claimOne(DUE_AT)
    await subject.release(giveBack(claim, DUE_AT + 3))
    expectEqual('the order', await subject.claimIds(DUE_AT + 3), ['row-00', 'row-01', 'row-02'])
  }),
  promise('a row claimed ahead and given back stays due at its instant', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    const claim = await subject.claimOne(DUE_AT - 800, { dueBefore: DUE_AT + 200 })
    await subject.release(giveBack(claim, DUE_AT - 700))
    const early = await subject.claim(DUE_AT - 600)
    expectEqual('before it is due', [early.claims, early.nextDueAt], [[], DUE_AT])
    expectEqual('when it is due', await subject.claimIds(DUE_AT), ['one'])
  }),
  promise('a claim that has ended still gives back while nobody else claimed the row', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    const claim = await subject.claimOne(DUE_AT)
    expectEqual('the release', await subject.release(giveBack(claim, LEASE_ENDS_AT + 500)), ['settled'])
    expectEqual('before', await subject.claimIds(LEASE_ENDS_AT + 499), [])
    expectEqual('from then on', await subject.claimIds(LEASE_ENDS_AT + 500), ['one'])
  }),
  promise(
    'failures are 0 at first, kept by a release without a count, and set by one with a count',
    async (subject) => {
      await subject.storeNew(sampleMessage({ id: 'one' }))
      const found: number[] = []
      for (const failures of [undefined, 2, undefined, 3, 0]) {
        const claim = await subject.claimOne(DUE_AT)
        found.push(claim.failures)
        await subject.release(giveBack(claim, DUE_AT, failures === undefined ? {} : { failures }))
      }
      found.push((await subject.claimOne(DUE_AT)).failures)
      expectEqual('failures at each claim', found, [0, 0, 2, 2, 3, 0])
    },
  ),
  promise('failures survive a claim that ends', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    await subject.release(giveBack(await subject.claimOne(DUE_AT), DUE_AT, { failures: 4 }))
    await subject.claimOne(DUE_AT)
    const claim = await subject.claimOne(LEASE_ENDS_AT)
    expectEqual('failures and claims', [claim.failures, claim.claims], [4, 2])
  }),
  promise('each release of a batch has its own outcome, in order', async (subject) => {
    const messages = sampleMessages(60, 'row', (index) => ({ dueAt: DUE_AT + index }))
    await subject.storeNew(...messages)
    const { claims } = await subject.claim(DUE_AT + 60)
    await subject.settle(...claims.filter((_, index) => index % 4 === 0))
    await subject.release(...claims.filter((_, index) => index % 4 === 1).map((claim) => giveBack(claim, DUE_AT + 60)))
    const releases = claims.map((claim, index) =>
      giveBack(claim, DUE_AT + 99, {
        published: index % 5 === 0 ? 'perhaps' : 'no',
        ...(index % 3 === 0 && { failures: index }),
        ...(index % 4 === 3 && { dead: { reason: `reason ${index}`, diedAt: DUE_AT + 60 } }),
      }),
    )
    expectEqual(
      'the outcomes',
      await subject.release(...releases),
      claims.map((_, index) => ['gone', 'lease-lost', 'settled', 'settled'][index % 4]),
    )
    const idsAt = (rest: number) => idsOf(messages.filter((_, index) => index % 4 === rest))
    expectEqual('claimable before', await subject.claimIds(DUE_AT + 98), idsAt(1))
    expectEqual('claimable from then on', await subject.claimIds(DUE_AT + 99), idsAt(2))
    expectEqual('the dead rows', (await subject.persistence.measureBacklog(DUE_AT + 99)).dead, 15)
  }),
]
