import { expectEqual } from './expectation.js'
import { bodyOfBytes, DUE_AT, sampleMessage, sampleMessages } from './message-samples.js'
import { BEFORE, claimExactlyAt, LATER, message, move, promise, SOONER } from './moving.js'
import { type ContractCase, giveBack, idsOf, LEASE_MS } from './subject.js'

/** What moving a row to another instant promises. */
export const reschedulingCases: readonly ContractCase[] = [
  promise('a row that is moved to later waits for the new instant and no longer for the old one', async (subject) => {
    await subject.storeNew(message)
    const result = await subject.reschedule(message, LATER, BEFORE)
    expectEqual('the outcome', result.outcome, 'rescheduled')
    expectEqual('claimable at the old instant', await subject.claimIds(DUE_AT), [])
    const claim = await claimExactlyAt(subject, LATER)
    expectEqual('the claim', [claim.dueAt, claim.rowId, claim.envelope], [LATER, 'one', message.envelope])
    expectEqual('the settle', await subject.settle(claim), ['settled'])
    expectEqual('what is left', await subject.claimIds(LATER + LEASE_MS * 2), [])
  }),
  promise('a row that is moved to sooner is due then, and only then', async (subject) => {
    await subject.storeNew(message)
    await move(subject, message, SOONER)
    expectEqual('the settle', await subject.settle(await claimExactlyAt(subject, SOONER)), ['settled'])
    expectEqual('at the old instant', await subject.claimIds(LATER), [])
  }),
  promise('a look tells the new instant as the next one', async (subject) => {
    await subject.storeNew(message)
    await move(subject, message, LATER)
    const look = await subject.claim(BEFORE)
    expectEqual('the look', [look.claims, look.nextDueAt], [[], LATER])
  }),
  promise('a moved row is counted once, from its new instant on', async (subject) => {
    await subject.storeNew(message)
    await move(subject, message, LATER)
    const { measureBacklog } = subject.persistence
    expectEqual('before', (await measureBacklog(LATER - 1)).due, 0)
    const { due, oldestDueAt } = await measureBacklog(LATER)
    expectEqual('from then on', { due, oldestDueAt }, { due: 1, oldestDueAt: LATER })
  }),
  promise('a message of 10 KB, and of nearly a kilobyte, is moved with all that it is', async (subject) => {
    for (const [id, bytes] of [
      ['large', 10_240],
      ['thin', 700],
    ] as const) {
      const one = sampleMessage({ id, body: bodyOfBytes(bytes), target: 'billing', attempt: 3 })
      await subject.storeNew(one)
      await move(subject, one, LATER)
      const { envelope, target, attempt } = await subject.claimOne(LATER)
      expectEqual(id, { envelope, target, attempt }, { envelope: one.envelope, target: 'billing', attempt: 3 })
    }
  }),
  promise('what failed and what was claimed before is not forgotten by a move', async (subject) => {
    await subject.storeNew(message)
    await subject.release(giveBack(await subject.claimOne(DUE_AT), LATER, { failures: 3 }))
    await move(subject, message, LATER + 5, DUE_AT + 1)
    expectEqual('the failures', (await subject.claimOne(LATER + 5)).failures, 3)
  }),
  promise('rows around a moved one stay as they are', async (subject) => {
    const messages = sampleMessages(9, 'row', (index) => ({ dueAt: DUE_AT + index }))
    await subject.storeNew(...messages)
    for (const one of messages.filter((_, index) => index % 3 === 1)) await move(subject, one, LATER + one.dueAt)
    expectEqual('the others', await subject.claimIds(DUE_AT + 9), idsOf(messages.filter((_, index) => index % 3 !== 1)))
  }),
  promise('a row is never moved onto another: it is due a millisecond later then', async (subject) => {
    const other = sampleMessage({ id: 'one', dueAt: LATER, body: '"other"' })
    await subject.storeNew(message, other)
    expectEqual('the new instant', (await move(subject, message, LATER)).dueAt, LATER + 1)
    const { claims } = await subject.claim(LATER + 1)
    expectEqual(
      'the rows',
      claims.map(({ envelope }) => envelope),
      [other.envelope, message.envelope],
    )
  }),
  promise('a row that is to be due when it is already stays as it is', async (subject) => {
    await subject.storeNew(message)
    expectEqual('the same instant', (await move(subject, message, DUE_AT)).dueAt, DUE_AT)
    expectEqual('overdue', (await move(subject, message, DUE_AT + 50, DUE_AT + 50)).dueAt, DUE_AT)
    expectEqual('the rows', await subject.claimIds(DUE_AT), ['one'])
  }),
  promise('a row that was given back for later is claimable at once when it is to be due now', async (subject) => {
    await subject.storeNew(message)
    await subject.release(giveBack(await subject.claimOne(DUE_AT), LATER))
    expectEqual('before', await subject.claimIds(DUE_AT + 10), [])
    await move(subject, message, DUE_AT + 10, DUE_AT + 10)
    expectEqual('after', await subject.claimIds(DUE_AT + 10), ['one'])
  }),
]
