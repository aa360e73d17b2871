import type { Envelope } from '../../core/envelope.js'
import type { OutgoingMessage } from '../../core/persistence.js'
import { expectEqual } from './expectation.js'
import { bodyOfBytes, DUE_AT, sampleMessage, sampleMessages } from './message-samples.js'
import { type ContractCase, promise, type Subject } from './subject.js'

/** Claims the one due row, which must hold this message. */
export const expectBack = async (subject: Subject, message: OutgoingMessage) => {
  const claim = await subject.claimOne(message.dueAt)
  expectEqual('the envelope comes back as it was stored', claim.envelope, message.envelope)
}

const conflicts = (what: string, options: { body?: string; envelope?: Partial<Envelope> }): ContractCase =>
  promise(`another ${what} under a taken id is a conflict, and the first message stays`, async (subject) => {
    const first = sampleMessage({ id: 'one' })
    await subject.storeNew(first)
    expectEqual('the outcome', await subject.store(sampleMessage({ id: 'one', ...options })), ['conflict'])
    await expectBack(subject, first)
  })

const repeats: readonly ContractCase[] = [
  promise('the same message stored again is a duplicate, and is delivered once', async (subject) => {
    const message = sampleMessage({ id: 'one' })
    await subject.storeNew(message)
    expectEqual('the outcome', await subject.store(message), ['duplicate'])
    expectEqual('the rows', await subject.claimIds(DUE_AT), ['one'])
  }),
  promise('headers and sending times don’t make a message another one; the first stays', async (subject) => {
    const first = sampleMessage({ id: 'one', envelope: { headers: { traceparent: '1' } } })
    await subject.storeNew(first)
    const second = sampleMessage({ id: 'one', envelope: { headers: { traceparent: '2' }, sentAt: 5 } })
    expectEqual('the outcome', await subject.store(second), ['duplicate'])
    await expectBack(subject, first)
  }),
  promise('a duplicate of 10 KB is seen as one', async (subject) => {
    const message = sampleMessage({ id: 'one', body: bodyOfBytes(10_240) })
    await subject.storeNew(message)
    expectEqual('the outcome', await subject.store(message), ['duplicate'])
    await expectBack(subject, message)
  }),
  conflicts('body', { body: '{"other":true}' }),
  conflicts('body of 10 KB', { body: bodyOfBytes(10_240) }),
  conflicts('name', { envelope: { name: 'orders/cancel' } }),
  conflicts('kind', { envelope: { kind: 'event' } }),
  conflicts('attribute', { envelope: { attributes: { customer: 'c-8' } } }),
  promise('a conflict leaves a first message of 10 KB whole', async (subject) => {
    const first = sampleMessage({ id: 'one', body: bodyOfBytes(10_240) })
    await subject.storeNew(first)
    const others = [bodyOfBytes(10_241), '{"small":true}'].map((body) => sampleMessage({ id: 'one', body }))
    for (const other of others) expectEqual('the outcome', await subject.store(other), ['conflict'])
    await expectBack(subject, first)
  }),
  promise('a repeat never takes the lease from whoever holds it', async (subject) => {
    const message = sampleMessage({ id: 'one' })
    await subject.storeNew(message)
    const claim = await subject.claimOne(DUE_AT)
    expectEqual('the outcome', await subject.store(message), ['duplicate'])
    expectEqual('the rows', await subject.claimIds(DUE_AT + 1), [])
    expectEqual('the settle', await subject.settle(claim), ['settled'])
  }),
  promise('two stores of one message at the same moment leave one row', async (subject) => {
    const message = sampleMessage({ id: 'one', body: bodyOfBytes(2_000) })
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => subject.store(message)))
    expectEqual('the outcomes', outcomes.flat().sort(), ['duplicate', 'duplicate', 'duplicate', 'stored'])
    expectEqual('the rows', await subject.claimIds(DUE_AT), ['one'])
  }),
]

const batches: readonly ContractCase[] = [
  promise('a batch of none is stored as none', async (subject) => {
    expectEqual('the outcomes', await subject.store(), [])
  }),
  promise('each message of a batch has its own outcome, in order', async (subject) => {
    const [a, b, c] = [sampleMessage({ id: 'a' }), sampleMessage({ id: 'b' }), sampleMessage({ id: 'c' })]
    const [d, e] = [sampleMessage({ id: 'd' }), sampleMessage({ id: 'e' })]
    await subject.storeNew(a, b)
    expectEqual('the recall', await subject.recall(c, DUE_AT - 1), 'not-found')
    const otherB = sampleMessage({ id: 'b', body: '{"other":true}' })
    expectEqual('the outcomes', await subject.store(e, otherB, c, a, d), [
      'stored',
      'conflict',
      'recalled',
      'duplicate',
      'stored',
    ])
    expectEqual('the rows', (await subject.claimIds(DUE_AT)).sort(), ['a', 'b', 'd', 'e'])
  }),
  promise('a batch of 60 with repeats in it stores each message once', async (subject) => {
    const different = sampleMessages(40, 'row', (index) => ({ body: bodyOfBytes(index % 5 === 0 ? 3_000 : 300) }))
    const batch = [...different, ...different.slice(10, 30)]
    const outcomes = await subject.store(...batch)
    for (const { rowId } of different) {
      const found = outcomes.filter((_, index) => batch[index]?.rowId === rowId).sort()
      expectEqual(`the outcomes of ${rowId}`, found, found.length === 1 ? ['stored'] : ['duplicate', 'stored'])
    }
    expectEqual(
      'the rows',
      (await subject.claimIds(DUE_AT)).sort(),
      different.map(({ rowId }) => rowId),
    )
  }),
  promise('of two messages under one id in a batch, one is stored and the other a conflict', async (subject) => {
    const both = [1, 2].map((of) => sampleMessage({ id: 'one', body: JSON.stringify({ of }) }))
    const outcomes = await subject.store(...both)
    expectEqual('the outcomes', [...outcomes].sort(), ['conflict', 'stored'])
    const stored = both[outcomes.indexOf('stored')]
    await expectBack(subject, stored ?? sampleMessage({ id: 'none' }))
  }),
]

const rows: readonly ContractCase[] = [
  promise('one message at two due instants is two rows', async (subject) => {
    const early = sampleMessage({ id: 'one' })
    const late = sampleMessage({ id: 'one', dueAt: DUE_AT + 1 })
    await subject.storeNew(early, late)
    expectEqual(
      'due at the first',
      (await subject.claim(DUE_AT)).claims.map(({ dueAt }) => dueAt),
      [DUE_AT],
    )
    expectEqual(
      'due at the second',
      (await subject.claim(DUE_AT + 1)).claims.map(({ dueAt }) => dueAt),
      [DUE_AT + 1],
    )
  }),
  promise('a redelivery is a row of its own beside the first delivery, with target and attempt', async (subject) => {
    const first = sampleMessage({ id: 'one' })
    const again = sampleMessage({ id: 'one', rowId: 'one~billing~2', target: 'billing', attempt: 2 })
    await subject.storeNew(first, again)
    const { claims } = await subject.claim(DUE_AT)
    const told = claims.map(({ rowId, target, attempt }) => ({ rowId, target, attempt }))
    expectEqual(
      'the rows',
      told.sort((one, other) => (one.rowId < other.rowId ? -1 : 1)),
      [
        { rowId: 'one', target: undefined, attempt: 1 },
        { rowId: 'one~billing~2', target: 'billing', attempt: 2 },
      ],
    )
  }),
  promise('a row stored long after it was due is found by the next pass', async (subject) => {
    const now = DUE_AT + 90_000_000
    await subject.storeNew(sampleMessage({ id: 'punctual', dueAt: now }))
    expectEqual('the first pass', await subject.claimIds(now), ['punctual'])
    await subject.storeNew(sampleMessage({ id: 'late' }))
    expectEqual('the next pass', await subject.claimIds(now), ['late'])
  }),
]

/** What storing promises. */
export const storingCases: readonly ContractCase[] = [...repeats, ...batches, ...rows]
