import { encodeEnvelope, utf8Bytes } from '../../core/envelope.js'
import { LEASE_MARGIN_MS, parseLease } from '../../core/lease.js'
import { expectEqual } from './expectation.js'
import { DUE_AT, sampleMessage, sampleMessages } from './message-samples.js'
import { type ContractCase, giveBack, idsOf, LEASE_ENDS_AT, LEASE_MS, promise } from './subject.js'

const what: readonly ContractCase[] = [
  promise('a row is claimed from its due instant on, and not a millisecond before', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    const early = await subject.claim(DUE_AT - 1)
    expectEqual('one millisecond before', [early.claims, early.nextDueAt, early.more], [[], DUE_AT, false])
    expectEqual('at the instant', await subject.claimIds(DUE_AT), ['one'])
  }),
  promise('a row years overdue is claimed', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    expectEqual('four years later', await subject.claimIds(DUE_AT + 4 * 365 * 86_400_000), ['one'])
  }),
  promise('the look-ahead decides what is due, and the lease still runs from now', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }), sampleMessage({ id: 'two', dueAt: DUE_AT + 1 }))
    const claim = await subject.claimOne(DUE_AT - 1_000, { dueBefore: DUE_AT })
    expectEqual('the lease', [claim.rowId, claim.leaseUntil], ['one', DUE_AT - 1_000 + LEASE_MS])
  }),
  promise('the look-ahead does not shorten another’s lease', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    await subject.claimOne(DUE_AT)
    const early = await subject.claim(LEASE_ENDS_AT - 1, { dueBefore: LEASE_ENDS_AT + 5_000 })
    expectEqual('just before the lease ends', [early.claims, early.nextDueAt], [[], LEASE_ENDS_AT])
  }),
  promise('a claim tells the row, its register, and the bytes of its envelope', async (subject) => {
    const message = sampleMessage({ id: 'one', body: '"größer 😀"' })
    await subject.storeNew(message)
    const { lease, envelope, ...claim } = await subject.claimOne(DUE_AT)
    const register = parseLease(lease)
    expectEqual('the claim', claim, {
      shard: 0,
      dueAt: DUE_AT,
      rowId: 'one',
      leaseUntil: DUE_AT + LEASE_MS,
      bytes: utf8Bytes(encodeEnvelope(message.envelope)),
      attempt: 1,
      claims: 1,
      failures: 0,
    })
    expectEqual(
      `the register ${lease}`,
      [register?.until, register?.state, register?.claims],
      [DUE_AT + LEASE_MS, 'l', 1],
    )
  }),
  promise('what a claimer does to a claimed envelope does not change the row', async (subject) => {
    const message = sampleMessage({ id: 'one' })
    await subject.storeNew(message)
    const first = await subject.claimOne(DUE_AT)
    if (typeof first.envelope !== 'string') Object.assign(first.envelope.attributes, { customer: 'changed' })
    await subject.release(giveBack(first, DUE_AT))
    const second = await subject.claimOne(DUE_AT)
    expectEqual('the envelope', second.envelope, sampleMessage({ id: 'one' }).envelope)
  }),
]

const leases: readonly ContractCase[] = [
  promise('a leased row is not claimed again before its lease and the margin have ended', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    await subject.claimOne(DUE_AT)
    for (const now of [DUE_AT, DUE_AT + LEASE_MS, LEASE_ENDS_AT - 1]) {
      const look = await subject.claim(now)
      expectEqual(`at ${now}`, [look.claims, look.nextDueAt, look.more], [[], LEASE_ENDS_AT, false])
    }
    expectEqual('when it has ended', await subject.claimIds(LEASE_ENDS_AT), ['one'])
  }),
  promise(
    'claims that ended without settle or release are counted, and a release starts the count anew',
    async (subject) => {
      await subject.storeNew(sampleMessage({ id: 'one' }))
      let now = DUE_AT
      let claim = await subject.claimOne(now)
      for (const count of [1, 2, 3]) {
        expectEqual('the count', [claim.claims, parseLease(claim.lease)?.claims], [count, count])
        now = claim.leaseUntil + LEASE_MARGIN_MS
        claim = await subject.claimOne(now)
      }
      await subject.release(giveBack(claim, now))
      expectEqual('after a release', (await subject.claimOne(now)).claims, 1)
    },
  ),
  promise('no value of the register ever comes twice', async (subject) => {
    await subject.storeNew(sampleMessage({ id: 'one' }))
    const seen = new Set<string>()
    for (let round = 0; round < 5; round++) {
      const claim = await subject.claimOne(DUE_AT)
      seen.add(claim.lease)
      await subject.release(giveBack(claim, DUE_AT))
    }
    expectEqual('different registers', seen.size, 5)
  }),
  promise('claimers at the same moment never get one row both, and between them get all', async (subject) => {
    const messages = sampleMessages(60, 'row', (index) => ({ dueAt: DUE_AT - index }))
    await subject.storeNew(...messages)
    const claimed: string[] = []
    for (let round = 0; round < 20 && claimed.length < messages.length; round++) {
      const looks = await Promise.all([60, 20, 5, 60].map((limit) => subject.claimIds(DUE_AT, { limit })))
      claimed.push(...looks.flat())
    }
    expectEqual('the claimed rows', claimed.sort(), idsOf(messages))
  }),
  promise('claimers at the moment a lease ends never get the row both', async (subject) => {
    await subject.storeNew(...sampleMessages(10, 'row'))
    await subject.claim(DUE_AT)
    const looks = await Promise.all([1, 2, 3].map(() => subject.claimIds(LEASE_ENDS_AT)))
    const claimed = [...looks.flat(), ...(await subject.claimIds(LEASE_ENDS_AT))]
    expectEqual('the claimed rows', claimed.sort(), idsOf(sampleMessages(10, 'row')))
  }),
]

/** What a claim and its lease promise. */
export const claimingCases: readonly ContractCase[] = [...what, ...leases]
