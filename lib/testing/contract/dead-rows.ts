import type { Inspection, PeekedRow } from '../../core/inspection.js'
import type { OutgoingMessage } from '../../core/persistence.js'
import { expectEqual } from './expectation.js'
import { KEY, keyed, storeKeyed, storeNewKeyed } from './keying.js'
import { bodyOfBytes, DUE_AT, sampleMessage } from './message-samples.js'
import { type ContractCase, giveBack, promiseOf, type Subject } from './subject.js'

const LATER = DUE_AT + 3_600_000
const DEAD = { reason: 'refused', diedAt: DUE_AT + 7 }

const promise = (name: string, check: ContractCase['check']): ContractCase => promiseOf('inspection', name, check)

const inspectionOf = ({ persistence }: Subject): Inspection => {
  if (persistence.inspection !== undefined) return persistence.inspection
  throw new Error(`${persistence.name} has no inspection: give { without: ['inspection'] } to leave this out`)
}

const die = async (subject: Subject, message: OutgoingMessage, published: 'no' | 'perhaps' = 'no') => {
  if (message.key === undefined) await subject.storeNew(message)
  const release = giveBack(await subject.claimOne(message.dueAt), DUE_AT, { dead: DEAD, failures: 5, published })
  expectEqual('the release', await subject.release(release), ['settled'])
}

const deadCount = async (subject: Subject) => (await subject.persistence.measureBacklog(LATER)).dead

const summaryOf = (peeked: PeekedRow | undefined) =>
  peeked && [peeked.state, peeked.envelope, peeked.death?.reason, peeked.failures]

const peeks: readonly ContractCase[] = [
  promise('a row is peeked at with its content, in every state, wherever it was moved', async (subject) => {
    const message = sampleMessage({ id: 'one', body: bodyOfBytes(4_000) })
    const peek = async (now = DUE_AT) => summaryOf(await inspectionOf(subject).peek(message, now))
    expectEqual('before', await peek(), undefined)
    await subject.storeNew(message)
    expectEqual('waiting', await peek(), ['waiting', message.envelope, undefined, 0])
    const claim = await subject.claimOne(DUE_AT)
    expectEqual('leased', await peek(), ['leased', message.envelope, undefined, 0])
    await subject.release(giveBack(claim, DUE_AT))
    if (subject.persistence.rescheduleOutgoingMessage !== undefined) {
      await subject.reschedule(message, LATER, DUE_AT)
      const moved = await inspectionOf(subject).peek(message, DUE_AT)
      expectEqual('moved', [moved?.dueAt, moved?.firstDueAt, moved?.envelope], [LATER, DUE_AT, message.envelope])
    }
    await subject.recall(message, DUE_AT)
    expectEqual('recalled', await peek(), ['recalled', undefined, undefined, 0])
  }),
  promise('a dead row is peeked at with how it died', async (subject) => {
    const message = sampleMessage({ id: 'one' })
    await die(subject, message)
    const peeked = await inspectionOf(subject).peek(message, LATER)
    expectEqual('the row', summaryOf(peeked), ['dead', message.envelope, 'refused', 5])
    expectEqual('the death', peeked?.death, DEAD)
    await subject.recall(message, LATER)
    const after = await inspectionOf(subject).peek(message, LATER)
    expectEqual('recalled', after === undefined || after.state === 'recalled', true)
  }),
  promise('a message that gave way to another is peeked at as recalled', async (subject) => {
    if (subject.persistence.keys === undefined) return
    const old = keyed('old')
    await storeNewKeyed(subject, old)
    await storeNewKeyed(subject, keyed('new'), 'replace')
    expectEqual('the old one', (await inspectionOf(subject).peek(old, DUE_AT - 9))?.state, 'recalled')
  }),
]

const putBacks: readonly ContractCase[] = [
  promise('a dead row that is put back waits again, without its failures', async (subject) => {
    const message = sampleMessage({ id: 'one', body: bodyOfBytes(4_000), target: 'billing', attempt: 3 })
    await die(subject, message)
    const found = await inspectionOf(subject).putBack(message, LATER, LATER - 9)
    expectEqual('the outcome', found, {
      outcome: 'put-back',
      address: { shard: 0, rowId: 'one', dueAt: LATER, firstDueAt: DUE_AT },
    })
    expectEqual('the dead rows', [await deadCount(subject), await inspectionOf(subject).listDead(9)], [0, []])
    expectEqual('one millisecond before', await subject.claimIds(LATER - 1), [])
    const { envelope, target, attempt, failures, claims } = await subject.claimOne(LATER)
    expectEqual(
      'the claim',
      { envelope, target, attempt, failures, claims },
      { envelope: message.envelope, target: 'billing', attempt: 3, failures: 0, claims: 1 },
    )
  }),
  promise('a dead row is put back once, and may die again', async (subject) => {
    const message = sampleMessage({ id: 'one' })
    await die(subject, message)
    const outcomes = await Promise.all([1, 2, 3].map(() => inspectionOf(subject).putBack(message, LATER, LATER)))
    expectEqual('put back', outcomes.filter(({ outcome }) => outcome === 'put-back').length, 1)
    await subject.release(giveBack(await subject.claimOne(LATER), LATER, { dead: DEAD }))
    expectEqual('the dead rows', await deadCount(subject), 1)
    expectEqual('again', (await inspectionOf(subject).putBack(message, LATER + 5, LATER)).outcome, 'put-back')
    expectEqual('the row', await subject.claimIds(LATER + 5), ['one'])
  }),
  promise('a row that was put back is recalled by its old address', async (subject) => {
    for (const published of ['no', 'perhaps'] as const) {
      const message = sampleMessage({ id: `one-${published}` })
      await die(subject, message, published)
      await inspectionOf(subject).putBack(message, LATER, LATER - 9)
      const answer = published === 'no' ? 'recalled' : 'possibly-delivered'
      expectEqual('the recall', await subject.recall(message, LATER - 9), answer)
    }
    expectEqual('the rows', await subject.claimIds(LATER), [])
  }),
  promise('what is not dead is not put back, nor purged', async (subject) => {
    const [unknown, waiting, recalled] = ['unknown', 'waiting', 'recalled'].map((id) => sampleMessage({ id }))
    if (waiting && recalled) await subject.storeNew(waiting, recalled)
    if (recalled) await subject.recall(recalled, DUE_AT)
    for (const one of [unknown, waiting, recalled]) {
      if (one === undefined) continue
      expectEqual('put back', await inspectionOf(subject).putBack(one, LATER, LATER), { outcome: 'not-found' })
      expectEqual('purged', await inspectionOf(subject).purge(one), false)
    }
    expectEqual('the rows', await subject.claimIds(LATER), ['waiting'])
  }),
  promise('a dead row whose key another message holds stays dead', async (subject) => {
    if (subject.persistence.keys === undefined) return
    const dead = keyed('dead')
    await storeNewKeyed(subject, dead)
    await die(subject, dead)
    const other = keyed('other', { dueAt: LATER })
    const by = await storeNewKeyed(subject, other, 'keep', DUE_AT)
    const taken = await inspectionOf(subject).putBack(dead, LATER, LATER - 9)
    expectEqual('while the key is held', taken, { outcome: 'key-taken', by })
    await subject.recall(other, LATER - 9)
    expectEqual('afterwards', (await inspectionOf(subject).putBack(dead, LATER, LATER - 9)).outcome, 'put-back')
    if (subject.persistence.rescheduleOutgoingMessage !== undefined) {
      const again = await storeKeyed(subject, keyed('third', { key: KEY }), 'keep', LATER - 9)
      expectEqual('its key', again.outcome, 'kept')
    }
  }),
  promise('a purged row is gone for good', async (subject) => {
    const message = sampleMessage({ id: 'one', body: bodyOfBytes(4_000) })
    await die(subject, message)
    const purged = await Promise.all([1, 2].map(() => inspectionOf(subject).purge(message)))
    expectEqual('purged', purged.filter((one) => one).length, 1)
    expectEqual('the dead rows', await deadCount(subject), 0)
    expectEqual('put back', await inspectionOf(subject).putBack(message, LATER, LATER), { outcome: 'not-found' })
    expectEqual('a recall', await subject.recall(message, LATER), 'too-late')
  }),
]

/** What peeking, putting back and purging promises. */
export const deadRowCases: readonly ContractCase[] = [...peeks, ...putBacks]
