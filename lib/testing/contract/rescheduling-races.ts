import { LEASE_MARGIN_MS } from '../../core/lease.js'
import { expectEqual, expectTrue } from './expectation.js'
import { DUE_AT, sampleMessages } from './message-samples.js'
import { BEFORE, LATER, message, promise, SOONER } from './moving.js'
import { type ContractCase, giveBack, idsOf, LEASE_ENDS_AT, LEASE_MS } from './subject.js'

const refusals: readonly ContractCase[] = [
  promise('what was never stored is not moved, and nothing is left behind', async (subject) => {
    expectEqual('before', (await subject.reschedule(message, LATER, BEFORE)).outcome, 'not-found')
    expectEqual('after', (await subject.reschedule(message, LATER, DUE_AT)).outcome, 'too-late')
    await subject.storeNew(message)
    expectEqual('the rows', await subject.claimIds(LATER), ['one'])
  }),
  promise('a row that was recalled is not moved', async (subject) => {
    await subject.storeNew(message)
    await subject.recall(message, BEFORE)
    expectEqual('the outcome', (await subject.reschedule(message, LATER, BEFORE)).outcome, 'recalled')
    expectEqual('the rows', await subject.claimIds(LATER), [])
  }),
  promise('a leased row is not moved until its lease has ended, and its holder settles', async (subject) => {
    await subject.storeNew(message)
    const claim = await subject.claimOne(DUE_AT)
    for (const now of [DUE_AT, LEASE_ENDS_AT - 1])
      expectEqual('the outcome', (await subject.reschedule(message, LATER, now)).outcome, 'too-late')
    expectEqual('the settle', await subject.settle(claim), ['settled'])
    expectEqual('the rows', await subject.claimIds(LATER), [])
  }),
  promise('a row whose lease ended is moved as possibly delivered, and its claim is void', async (subject) => {
    await subject.storeNew(message)
    const claim = await subject.claimOne(DUE_AT)
    const result = await subject.reschedule(message, LATER, LEASE_ENDS_AT)
    expectEqual('the outcome', result.outcome, 'possibly-delivered')
    const outcomes = [...(await subject.settle(claim)), ...(await subject.release(giveBack(claim, LATER)))]
    expectTrue(`the claim ends in ${outcomes.join(' and ')}`, !outcomes.includes('settled'))
    expectEqual('the rows', await subject.claimIds(LATER), ['one'])
    const again = LATER + LEASE_MS + LEASE_MARGIN_MS
    expectEqual('a recall', await subject.recall(message, again), 'possibly-delivered')
  }),
  promise('a row that was perhaps published stays so through a move', async (subject) => {
    await subject.storeNew(message)
    await subject.release(giveBack(await subject.claimOne(DUE_AT), DUE_AT, { published: 'perhaps' }))
    expectEqual('the move', (await subject.reschedule(message, LATER, DUE_AT)).outcome, 'possibly-delivered')
    expectEqual('the recall', await subject.recall(message, DUE_AT), 'possibly-delivered')
  }),
]

const races: readonly ContractCase[] = [
  promise('moves of one row at the same moment leave one row', async (subject) => {
    const messages = sampleMessages(4, 'row')
    await subject.storeNew(...messages)
    const instants = [LATER, LATER, LATER + 1, SOONER, LATER + 2]
    const results = await Promise.all(
      messages.flatMap((one) => instants.map((dueAt) => subject.reschedule(one, dueAt, BEFORE))),
    )
    expectEqual(
      'the outcomes',
      results.map(({ outcome }) => outcome),
      results.map(() => 'rescheduled'),
    )
    const at = LATER + 60_000
    expectEqual('the rows', (await subject.claimIds(at)).sort(), idsOf(messages))
    expectEqual('what is left', await subject.claimIds(at), [])
  }),
  promise('a move and a recall at the same moment: the row is withdrawn', async (subject) => {
    const messages = sampleMessages(8, 'row')
    await subject.storeNew(...messages)
    const [recalls, results] = await Promise.all([
      Promise.all(messages.map((one) => subject.recall(one, BEFORE))),
      Promise.all(messages.map((one) => subject.reschedule(one, LATER, BEFORE))),
    ])
    expectEqual(
      'the recalls',
      recalls,
      messages.map(() => 'recalled'),
    )
    for (const { outcome } of results)
      expectTrue(`a move is ${outcome}`, outcome === 'rescheduled' || outcome === 'recalled')
    expectEqual('the rows', await subject.claimIds(LATER), [])
  }),
  promise('a move and a claim at the same moment: exactly one wins', async (subject) => {
    const messages = sampleMessages(12, 'row')
    await subject.storeNew(...messages)
    const [claimed, results] = await Promise.all([
      subject.claimIds(DUE_AT),
      Promise.all(messages.map((one) => subject.reschedule(one, LATER, DUE_AT))),
    ])
    const left = await subject.claimIds(LATER - 3_000_000)
    for (const [index, { rowId }] of messages.entries()) {
      const isClaimed = claimed.includes(rowId) || left.includes(rowId)
      const outcome = isClaimed ? 'too-late' : 'rescheduled'
      expectEqual(`the move of ${rowId}`, results[index]?.outcome, outcome)
    }
  }),
]

/** What is not moved, and what happens when something else wants the row at the same moment. */
export const reschedulingRaceCases: readonly ContractCase[] = [...refusals, ...races]
