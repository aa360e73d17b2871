import { LEASE_MARGIN_MS } from '../../core/lease.js'
import { expectEqual, expectOneOf } from './expectation.js'
import { bodyOfBytes, DUE_AT, sampleMessage, sampleMessages } from './message-samples.js'
import { type ContractCase, giveBack, LEASE_ENDS_AT, promise, type Subject } from './subject.js'

/** Two claims of one row: the first ended, the second lives. */
const claimTwice = async (subject: Subject) => {
  const ended = await subject.claimOne(DUE_AT)
  const live = await subject.claimOne(LEASE_ENDS_AT)
  return { ended, live }
}

const settles: readonly ContractCase[] = [
  promise('a settled row is gone', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    expectEqual('the settle', await subject.settle(await subject.claimOne(DUE_AT)), ['settled'])
    const look = await subject.claim(LEASE_ENDS_AT)
    expectEqual('a later look', look, { claims: [], nextDueAt: undefined, more: false })
  }),
  promise('a batch of none is settled as none', async (subject) => {
    expectEqual('the outcomes', await subject.settle(), [])
  }),
  promise('a second settle of one claim finds the row gone', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    const claim = await subject.claimOne(DUE_AT)
    expectEqual('the outcomes', [await subject.settle(claim), await subject.settle(claim)], [['settled'], ['gone']])
  }),
  promise('a claim that has ended still settles while nobody else claimed the row', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    const claim = await subject.claimOne(DUE_AT)
    expectEqual('others wait for it', await subject.claimIds(LEASE_ENDS_AT - 1), [])
    expectEqual('the settle', await subject.settle(claim), ['settled'])
    expectEqual('nothing is left', await subject.claimIds(LEASE_ENDS_AT), [])
  }),
  promise('a row with a body of 10 KB settles as any other', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one', body: bodyOfBytes(10_240) }))
    expectEqual('the settle', await subject.settle(await subject.claimOne(DUE_AT)), ['settled'])
    expectEqual('nothing is left', await subject.claimIds(LEASE_ENDS_AT), [])
  }),
  promise('a claim made ahead of the due instant settles as any other', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    const claim = await subject.claimOne(DUE_AT - 900, { dueBefore: DUE_AT + 100 })
    expectEqual('the settle', await subject.settle(claim), ['settled'])
  }),
]

const stale: readonly ContractCase[] = [
  promise('a stale claim can’t settle a row that another holds', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    const { ended, live } = await claimTwice(subject)
    expectEqual('the stale settle', await subject.settle(ended), ['lease-lost'])
    expectEqual('the live settle', await subject.settle(live), ['settled'])
  }),
  promise('a stale claim can’t release a row that another holds', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    const { ended, live } = await claimTwice(subject)
    expectEqual('the stale release', await subject.release(giveBack(ended, DUE_AT)), ['lease-lost'])
    expectEqual('the row stays leased', await subject.claimIds(LEASE_ENDS_AT + 1), [])
    expectEqual('the live settle', await subject.settle(live), ['settled'])
  }),
  promise('a stale claim can’t give a row up that another holds', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    const { ended, live } = await claimTwice(subject)
    const dead = { reason: 'stale', diedAt: LEASE_ENDS_AT }
    expectEqual('the stale release', await subject.release(giveBack(ended, DUE_AT, { dead })), ['lease-lost'])
    expectEqual('the dead rows', (await subject.persistence.measureBacklog(LEASE_ENDS_AT)).dead, 0)
    expectEqual('the live settle', await subject.settle(live), ['settled'])
  }),
  promise('a claim can’t settle or release what it has given back', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    const claim = await subject.claimOne(DUE_AT)
    expectEqual('the release', await subject.release(giveBack(claim, DUE_AT)), ['settled'])
    expectEqual('the settle', await subject.settle(claim), ['lease-lost'])
    expectEqual('a second release', await subject.release(giveBack(claim, DUE_AT + 90_000)), ['lease-lost'])
    expectEqual('the row', await subject.claimIds(DUE_AT), ['one'])
  }),
  promise('a claim can’t settle the next message under the same id', async (subject) => {
    const message = sampleMessage({ id: 'one' })
    await subject.storeNew(message)
    const claim = await subject.claimOne(DUE_AT)
    await subject.settle(claim)
    await subject.storeNew(message)
    expectEqual('the settle', await subject.settle(claim), ['lease-lost'])
    expectEqual('the release', await subject.release(giveBack(claim, DUE_AT + 90_000)), ['lease-lost'])
    expectEqual('the row', await subject.claimIds(DUE_AT), ['one'])
  }),
  promise('a claim can neither settle nor bring back a row that was recalled after it had ended', async (subject) => {
    const message = sampleMessage({ id: 'one' })
    await subject.storeNew(message)
    const claim = await subject.claimOne(DUE_AT)
    expectEqual('the recall', await subject.recall(message, LEASE_ENDS_AT), 'possibly-delivered')
    const dead = { reason: 'stale', diedAt: LEASE_ENDS_AT }
    const outcomes = [
      ...(await subject.settle(claim)),
      ...(await subject.release(giveBack(claim, DUE_AT))),
      ...(await subject.release(giveBack(claim, DUE_AT, { dead }))),
    ]
    for (const outcome of outcomes) expectOneOf('the outcome', outcome, ['lease-lost', 'gone'])
    expectEqual('the row', await subject.claimIds(LEASE_ENDS_AT), [])
    expectEqual('the dead rows', (await subject.persistence.measureBacklog(LEASE_ENDS_AT)).dead, 0)
  }),
  promise('a settle and another’s claim at the moment the lease ends: exactly one has the row', async (subject) => {
    const messages = sampleMessages(12, 'row')
    await subject.storeNew(...messages)
    const { claims } = await subject.claim(DUE_AT)
    const [settled, taken] = await Promise.all([subject.settle(...claims), subject.claimIds(LEASE_ENDS_AT)])
    for (const [index, { rowId }] of claims.entries()) {
      expectOneOf(
        `${rowId} settled, and taken by another`,
        [settled[index], taken.includes(rowId)],
        [
          ['settled', false],
          ['lease-lost', true],
        ],
      )
    }
  }),
]

const batches: readonly ContractCase[] = [
  promise('each claim of a batch has its own outcome, in order', async (subject) => {
    const messages = sampleMessages(60, 'row', (index) => ({ dueAt: DUE_AT + index }))
    await subject.storeNew(...messages)
    const { claims } = await subject.claim(DUE_AT + 60)
    const goneBefore = claims.filter((_, index) => index % 3 === 0)
    await subject.settle(...goneBefore)
    const lostBefore = claims.filter((_, index) => index % 3 === 1)
    await subject.release(...lostBefore.map((claim) => giveBack(claim, DUE_AT + 60)))
    expectEqual(
      'the outcomes',
      await subject.settle(...claims),
      claims.map((_, index) => ['gone', 'lease-lost', 'settled'][index % 3]),
    )
    const left = await subject.claimIds(DUE_AT + 60 + LEASE_MARGIN_MS)
    expectEqual(
      'what is left',
      left,
      lostBefore.map(({ rowId }) => rowId),
    )
  }),
]

/** What settling promises. */
export const settlingCases: readonly ContractCase[] = [...settles, ...stale, ...batches]
