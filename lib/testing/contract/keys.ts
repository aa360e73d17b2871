import { expectEqual } from './expectation.js'
import {
  BEFORE,
  claimedAt,
  expectWaiting,
  holderOf,
  KEY,
  keyed,
  LATER,
  nameOf,
  promise,
  storeKeyed,
  storeNewKeyed,
} from './keying.js'
import { bodyOfBytes, DUE_AT, sampleMessage } from './message-samples.js'
import { type ContractCase, giveBack, LEASE_ENDS_AT } from './subject.js'

const MINUTE = 60_000

const choices: readonly ContractCase[] = [
  promise('a message under a free key is delivered as any other', async (subject) => {
    const one = keyed('one', { body: bodyOfBytes(10_240) })
    expectEqual('the outcome', await storeKeyed(subject, one), {
      outcome: 'stored',
      address: { shard: 0, dueAt: DUE_AT, rowId: 'one' },
    })
    expectEqual('one millisecond before', await subject.claimIds(DUE_AT - 1), [])
    const claim = await subject.claimOne(DUE_AT)
    expectEqual('the envelope', claim.envelope, one.envelope)
    expectEqual('the settle', await subject.settle(claim), ['settled'])
    await expectWaiting(subject)
  }),
  promise('keep: the message that is scheduled stays, and its address is told', async (subject) => {
    const address = await storeNewKeyed(subject, keyed('one'))
    expectEqual('the outcome', await storeKeyed(subject, keyed('two', { dueAt: LATER })), { outcome: 'kept', address })
    expectEqual('the holder', await holderOf(subject), 'one')
    await expectWaiting(subject, 'one 0')
  }),
  promise('replace: the new message takes the place, with its time and content', async (subject) => {
    for (const [index, dueAt] of [LATER, DUE_AT - 1_000].entries()) {
      const key = `key-${index}`
      const [one, two] = [keyed(`old-${index}`, { key }), keyed(`new-${index}`, { key, dueAt })]
      const replaced = await storeNewKeyed(subject, one)
      const address = { shard: 0, dueAt, rowId: two.rowId }
      expectEqual('the outcome', await storeKeyed(subject, two, 'replace'), { outcome: 'stored', address, replaced })
      expectEqual('a recall of the old one', await subject.recall(one, BEFORE), 'already-recalled')
      expectEqual('a repeat of the old one', await subject.store(one), ['recalled'])
      expectEqual('the holder', await holderOf(subject, key), two.rowId)
    }
    const first = await subject.claimOne(DUE_AT)
    expectEqual('the first', [first.rowId, first.dueAt], ['new-1', DUE_AT - 1_000])
    await subject.settle(first)
    const claim = await subject.claimOne(LATER)
    expectEqual('the envelope', claim.envelope, keyed('new-0').envelope)
  }),
  promise('replace-payload: the new message is due when the old one was', async (subject) => {
    await storeNewKeyed(subject, keyed('one'))
    const address = await storeNewKeyed(subject, keyed('two', { dueAt: LATER }), 'replace-payload')
    expectEqual('the address', address, { shard: 0, dueAt: DUE_AT, rowId: 'two' })
    await expectWaiting(subject, 'two 0')
  }),
  promise('replace and replace-payload under a free key: the message as it is', async (subject) => {
    await storeNewKeyed(subject, keyed('one', { key: 'a' }), 'replace')
    await storeNewKeyed(subject, keyed('two', { key: 'b', dueAt: DUE_AT + 5 }), 'replace-payload')
    await expectWaiting(subject, 'one 0', 'two 5')
  }),
  promise('one key has nothing to do with another, nor with messages without one', async (subject) => {
    await storeNewKeyed(subject, keyed('one', { key: 'invoice-1' }))
    await storeNewKeyed(subject, keyed('two', { key: 'invoice-11', dueAt: DUE_AT + 1 }))
    await subject.storeNew(sampleMessage({ id: 'invoice-1', dueAt: DUE_AT + 2 }))
    await storeNewKeyed(subject, keyed('three', { key: 'invoice-1', dueAt: DUE_AT + 3 }), 'replace')
    await expectWaiting(subject, 'two 1', 'invoice-1 2', 'three 3')
  }),
  promise('a message that is sent again under its id and key is there once', async (subject) => {
    const address = await storeNewKeyed(subject, keyed('one'))
    for (const choice of ['keep', 'replace', 'replace-payload'] as const) {
      expectEqual('a repeat', await storeKeyed(subject, keyed('one'), choice), { outcome: 'duplicate', address })
      const other = await storeKeyed(subject, keyed('one', { body: '"other"' }), choice)
      expectEqual('another message', nameOf(other), 'conflict')
    }
    await expectWaiting(subject, 'one 0')
  }),
]

const freeing: readonly ContractCase[] = [
  promise('a recall frees the key, and the message stays recalled', async (subject) => {
    const one = keyed('one')
    await storeNewKeyed(subject, one)
    expectEqual('the recall', await subject.recall(one, BEFORE), 'recalled')
    await storeNewKeyed(subject, keyed('two', { dueAt: LATER }))
    expectEqual('a repeat', nameOf(await storeKeyed(subject, one, 'keep')), 'kept')
    expectEqual('the recall of the new one', await subject.recall(keyed('two', { dueAt: LATER }), BEFORE), 'recalled')
    expectEqual('a repeat under the free key', nameOf(await storeKeyed(subject, one, 'replace')), 'recalled')
    await expectWaiting(subject)
  }),
  promise('the key is free once delivery has begun, and when the message is delivered or dead', async (subject) => {
    await storeNewKeyed(subject, keyed('one'))
    const first = await subject.claimOne(DUE_AT)
    await storeNewKeyed(subject, keyed('two', { dueAt: DUE_AT + 1 }), 'keep', DUE_AT)
    await subject.settle(first)
    await subject.settle(await subject.claimOne(DUE_AT + 1))
    await storeNewKeyed(subject, keyed('three', { dueAt: DUE_AT + 2 }), 'keep', DUE_AT + 1)
    const dead = { reason: 'refused', diedAt: DUE_AT + 2 }
    await subject.release(giveBack(await subject.claimOne(DUE_AT + 2), DUE_AT, { dead }))
    await storeNewKeyed(subject, keyed('four', { dueAt: DUE_AT + 3 }), 'keep', DUE_AT + 2)
    await expectWaiting(subject, 'four 3')
  }),
  promise('a message that was given back, or whose lease ended, holds its key', async (subject) => {
    await storeNewKeyed(subject, keyed('one'))
    await subject.release(giveBack(await subject.claimOne(DUE_AT), DUE_AT + 9))
    expectEqual('given back', nameOf(await storeKeyed(subject, keyed('two'), 'keep', DUE_AT)), 'kept')
    await subject.claimOne(DUE_AT + 9)
    const ended = LEASE_ENDS_AT + 9
    expectEqual('ended', nameOf(await storeKeyed(subject, keyed('two'), 'keep', ended)), 'kept')
  }),
  promise('a claim from before neither settles nor gives back what was replaced', async (subject) => {
    await storeNewKeyed(subject, keyed('one'))
    const stale = await subject.claimOne(DUE_AT)
    const two = keyed('two', { dueAt: LATER })
    await storeNewKeyed(subject, two, 'replace', LEASE_ENDS_AT)
    const outcomes = [...(await subject.settle(stale)), ...(await subject.release(giveBack(stale, LATER)))]
    expectEqual('settled', outcomes.includes('settled'), false)
    const claim = await subject.claimOne(LATER)
    expectEqual('the envelope', claim.envelope, two.envelope)
    expectEqual('its recall was never unsure', claim.claims, 1)
  }),
  promise('what becomes of an old message never frees the key of a newer one', async (subject) => {
    const one = keyed('one', { dueAt: DUE_AT - MINUTE })
    await storeNewKeyed(subject, one, 'keep', BEFORE - MINUTE)
    await storeNewKeyed(subject, keyed('two'), 'replace', BEFORE - MINUTE)
    await subject.recall(one, BEFORE - MINUTE)
    // Long after the old instant nothing is left of the old row.
    await subject.claim(DUE_AT - 1)
    await subject.claim(DUE_AT - 1)
    expectEqual('the holder', await holderOf(subject), 'two')
    expectEqual('a third', nameOf(await storeKeyed(subject, keyed('three'), 'keep', DUE_AT - 1)), 'kept')
    await expectWaiting(subject, 'two 0')
  }),
  promise('a message that is moved to another time takes its key along', async (subject) => {
    const one = keyed('one')
    await storeNewKeyed(subject, one)
    const moved = await subject.reschedule(one, LATER, BEFORE)
    expectEqual('the move', moved.outcome, 'rescheduled')
    await subject.claim(LATER - 1)
    await subject.claim(LATER - 1)
    const kept = await storeKeyed(subject, keyed('two'), 'keep', LATER - 1)
    expectEqual('kept', kept, { outcome: 'kept', address: 'address' in moved ? moved.address : undefined })
    await storeNewKeyed(subject, keyed('three', { dueAt: LATER + 5 }), 'replace', LATER - 1)
    expectEqual('a recall of the old one', await subject.recall(one, LATER - 1), 'already-recalled')
    await expectWaiting(subject, `three ${LATER + 5 - DUE_AT}`)
  }),
  promise('nothing is found under a key that nothing was stored under', async (subject) => {
    await storeNewKeyed(subject, keyed('one'))
    expectEqual('the holder', [await holderOf(subject, 'other'), await holderOf(subject, KEY)], [undefined, 'one'])
  }),
]

const ids = Array.from({ length: 10 }, (_, index) => `row-${index}`)

const races: readonly ContractCase[] = [
  promise('of messages that are kept at the same moment exactly one is stored', async (subject) => {
    const found = await Promise.all(ids.map((id) => storeKeyed(subject, keyed(id))))
    const stored = found.flatMap((one) => (one.outcome === 'stored' ? [one.address] : []))
    expectEqual('how many were stored', stored.length, 1)
    for (const one of found)
      if (one.outcome !== 'stored') expectEqual('another', one, { outcome: 'kept', address: stored[0] })
    await expectWaiting(subject, `${stored[0]?.rowId} 0`)
  }),
  promise('messages that replace at the same moment leave one, and the others are withdrawn', async (subject) => {
    await storeNewKeyed(subject, keyed('old'))
    const messages = ids.map((id, index) => keyed(id, { dueAt: DUE_AT + index }))
    const found = await Promise.all(messages.map((one) => storeKeyed(subject, one, 'replace')))
    expectEqual(
      'the outcomes',
      found.map(nameOf),
      found.map(() => 'stored'),
    )
    const holder = await holderOf(subject)
    for (const one of [keyed('old'), ...messages])
      if (one.rowId !== holder)
        expectEqual(`a recall of ${one.rowId}`, await subject.recall(one, BEFORE), 'already-recalled')
    const waiting = await claimedAt(subject, LATER)
    expectEqual(
      'the rows',
      waiting.map((row) => row.split(' ')[0]),
      [holder],
    )
  }),
  promise('a replace and a claim at the same moment: delivered and stored, or replaced', async (subject) => {
    const keys = ids.map((id) => `key of ${id}`)
    for (const key of keys) await storeNewKeyed(subject, keyed(`old ${key}`, { key }))
    const [claimed, ...found] = await Promise.all([
      subject.claimIds(DUE_AT),
      ...keys.map((key) => storeKeyed(subject, keyed(`new ${key}`, { key, dueAt: LATER }), 'replace', DUE_AT)),
    ])
    const late = await subject.claimIds(DUE_AT)
    for (const [index, key] of keys.entries()) {
      const one = found[index]
      expectEqual('the outcome', one && nameOf(one), 'stored')
      const isReplaced = one?.outcome === 'stored' && one.replaced !== undefined
      const isClaimed = claimed.includes(`old ${key}`) || late.includes(`old ${key}`)
      expectEqual(`${key}: replaced or claimed`, [isReplaced, isClaimed], [isReplaced, !isReplaced])
    }
    const left = await subject.claimIds(LATER)
    expectEqual('the new ones', left.filter((id) => id.startsWith('new')).length, keys.length)
  }),
]

/** What keeping at most one message under a key promises. */
export const keyCases: readonly ContractCase[] = [...choices, ...freeing, ...races]
