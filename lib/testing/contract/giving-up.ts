import type { Claim, Release } from '../../core/persistence.js'
import { expectEqual, expectOneOf } from './expectation.js'
import { bodyOfBytes, DUE_AT, sampleMessage, sampleMessages } from './message-samples.js'
import { type ContractCase, giveBack, LEASE_ENDS_AT, promise, promiseOf, type Subject } from './subject.js'

const DIED_AT = DUE_AT + 70

const giveUp = (claim: Claim, options: Partial<Release> = {}): Release =>
  giveBack(claim, DIED_AT, { dead: { reason: 'refused: too large', diedAt: DIED_AT }, ...options })

const giveUpOne = async (subject: Subject, options: Partial<Release> = {}) => {
  const message = sampleMessage({ id: 'one' })
  await subject.storeNew(message)
  const claim = await subject.claimOne(DUE_AT)
  expectEqual('the release', await subject.release(giveUp(claim, options)), ['settled'])
  return { message, claim }
}

const deadCount = async (subject: Subject) => (await subject.persistence.measureBacklog(LEASE_ENDS_AT)).dead

const leaves: readonly ContractCase[] = [
  promise('a row given up leaves the due rows and is counted among the dead', async (subject) => {
    await giveUpOne(subject)
    const look = await subject.claim(LEASE_ENDS_AT)
    expectEqual('a later look', look, { claims: [], nextDueAt: undefined, more: false })
    const { due, dead, oldestDueAt } = await subject.persistence.measureBacklog(LEASE_ENDS_AT)
    expectEqual('the backlog', { due, dead, oldestDueAt }, { due: 0, dead: 1, oldestDueAt: undefined })
  }),
  promise('a claim can neither settle nor release what it has given up', async (subject) => {
    const { claim } = await giveUpOne(subject)
    const outcomes = [
      ...(await subject.settle(claim)),
      ...(await subject.release(giveBack(claim, DIED_AT), giveUp(claim))),
    ]
    for (const outcome of outcomes) expectOneOf('the outcome', outcome, ['gone', 'lease-lost'])
    expectEqual('the dead rows', await deadCount(subject), 1)
  }),
  promise('one row given up harms no other', async (subject) => {
    await subject.storeNew(...sampleMessages(3, 'row', (index) => ({ dueAt: DUE_AT + index })))
    const { claims } = await subject.claim(DUE_AT + 3)
    const [first, second, third] = claims.map((claim) => giveBack(claim, DUE_AT + 3))
    if (first && second && third) {
      const outcomes = await subject.release(first, giveUp(second.claim), third)
      expectEqual('the outcomes', outcomes, ['settled', 'settled', 'settled'])
    }
    expectEqual('the others', await subject.claimIds(DUE_AT + 3), ['row-00', 'row-02'])
  }),
  promise('a row can be given up with a reason of 5,000 characters', async (subject) => {
    const reason = `refused: ${'€ '.repeat(2_500)}`
    await giveUpOne(subject, { dead: { reason, diedAt: DIED_AT } })
    expectEqual('the dead rows', await deadCount(subject), 1)
  }),
]

const recalls: readonly ContractCase[] = [
  promise('the recall of a dead row that was surely not published withdraws it: recalled', async (subject) => {
    const { message } = await giveUpOne(subject)
    expectEqual('the recall', await subject.recall(message, LEASE_ENDS_AT), 'recalled')
    expectEqual('the dead rows', await deadCount(subject), 0)
    expectOneOf('a second recall', await subject.recall(message, LEASE_ENDS_AT), ['already-recalled', 'too-late'])
    expectEqual('the due rows', await subject.claimIds(LEASE_ENDS_AT), [])
  }),
  promise('the recall of a dead row that was perhaps published: possibly-delivered', async (subject) => {
    const { message } = await giveUpOne(subject, { published: 'perhaps' })
    expectEqual('the recall', await subject.recall(message, LEASE_ENDS_AT), 'possibly-delivered')
    expectEqual('the dead rows', await deadCount(subject), 0)
  }),
  promise('a dead row remembers that an earlier claim perhaps published: possibly-delivered', async (subject) => {
    const message = sampleMessage({ id: 'one' })
    await subject.storeNew(message)
    await subject.release(giveBack(await subject.claimOne(DUE_AT), DUE_AT, { published: 'perhaps' }))
    await subject.release(giveUp(await subject.claimOne(DUE_AT)))
    expectEqual('the recall', await subject.recall(message, LEASE_ENDS_AT), 'possibly-delivered')
  }),
  promise('two recalls of a dead row at the same moment: one withdraws it', async (subject) => {
    const { message } = await giveUpOne(subject)
    const answers = await Promise.all([1, 2].map(() => subject.recall(message, LEASE_ENDS_AT)))
    expectEqual('answers of recalled', answers.filter((answer) => answer === 'recalled').length, 1)
  }),
  promise('a recall and a giving up at the same moment: nothing comes back to life', async (subject) => {
    const messages = sampleMessages(8, 'row')
    await subject.storeNew(...messages)
    const { claims } = await subject.claim(DUE_AT)
    const [, ...answers] = await Promise.all([
      subject.release(...claims.map((claim) => giveUp(claim))),
      ...claims.map((claim) => subject.recall(claim, DIED_AT)),
    ])
    const withdrawn = answers.filter((answer) => answer === 'recalled').length
    const tooLate = answers.filter((answer) => answer === 'too-late').length
    expectEqual('recalled or too late', withdrawn + tooLate, messages.length)
    expectEqual('the due rows', await subject.claimIds(LEASE_ENDS_AT), [])
    expectEqual('the dead rows', await deadCount(subject), tooLate)
  }),
]

const lists: readonly ContractCase[] = [
  promiseOf('inspection', 'a dead row is listed with its message, its reason and its history', async (subject) => {
    const message = sampleMessage({ id: 'one', body: bodyOfBytes(10_240) })
    await subject.storeNew(message)
    const claim = await subject.claimOne(DUE_AT)
    await subject.release(giveUp(claim, { failures: 5 }))
    expectEqual('the dead rows', await subject.persistence.inspection?.listDead(10), [
      {
        shard: 0,
        dueAt: DUE_AT,
        rowId: 'one',
        envelope: message.envelope,
        reason: 'refused: too large',
        diedAt: DIED_AT,
        failures: 5,
      },
    ])
  }),
  promiseOf('inspection', 'dead rows are listed oldest first across the shards, at most so many', async (subject) => {
    const shards = [0, 1, 2]
    await subject.persistence.coordination?.growShards(shards.length)
    const messages = sampleMessages(9, 'row', (index) => ({ dueAt: DUE_AT + index, shard: (index * 2) % 3 }))
    await subject.storeNew(...messages)
    const { claims } = await subject.claim(DUE_AT + 9, { shards })
    await subject.release(...claims.map((claim) => giveUp(claim)))
    const listed = await subject.persistence.inspection?.listDead(5)
    expectEqual(
      'the first five',
      listed?.map(({ rowId }) => rowId),
      messages.slice(0, 5).map(({ rowId }) => rowId),
    )
  }),
  promiseOf('inspection', 'a recalled dead row is not listed', async (subject) => {
    const { message } = await giveUpOne(subject)
    await subject.recall(message, LEASE_ENDS_AT)
    expectEqual('the dead rows', await subject.persistence.inspection?.listDead(5), [])
  }),
]

/** What giving rows up promises. */
export const givingUpCases: readonly ContractCase[] = [...leaves, ...recalls, ...lists]
