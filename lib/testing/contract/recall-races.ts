import { LEASE_MARGIN_MS } from '../../core/lease.js'
import { expectEqual, expectOneOf } from './expectation.js'
import { bodyOfBytes, DUE_AT, sampleMessage, sampleMessages } from './message-samples.js'
import { type ContractCase, giveBack, LEASE_ENDS_AT, promise } from './subject.js'

const message = sampleMessage({ id: 'one' })

/** What recalling promises when something else happens to the row at the same moment. */
export const recallRaceCases: readonly ContractCase[] = [
  promise('a recall and a claim at the same moment: exactly one wins', async (subject) => {
    const messages = sampleMessages(30, 'row')
    await subject.storeNew(...messages)
    const [claimed, ...answers] = await Promise.all([
      subject.claimIds(DUE_AT),
      ...messages.map((one) => subject.recall(one, DUE_AT)),
    ])
    const left = await subject.claimIds(DUE_AT)
    for (const [index, { rowId }] of messages.entries()) {
      const isClaimed = claimed.includes(rowId) || left.includes(rowId)
      expectOneOf(
        `the answer for ${rowId}, and whether it was claimed`,
        [answers[index], isClaimed],
        [
          ['recalled', false],
          ['too-late', true],
        ],
      )
    }
  }),
  promise('a recall and a claim at the moment a lease ends: exactly one wins', async (subject) => {
    const messages = sampleMessages(10, 'row')
    await subject.storeNew(...messages)
    await subject.claim(DUE_AT)
    const [claimed, ...answers] = await Promise.all([
      subject.claimIds(LEASE_ENDS_AT),
      ...messages.map((one) => subject.recall(one, LEASE_ENDS_AT)),
    ])
    for (const [index, { rowId }] of messages.entries()) {
      expectOneOf(
        `the answer for ${rowId}, and whether it was claimed`,
        [answers[index], claimed.includes(rowId)],
        [
          ['possibly-delivered', false],
          ['too-late', true],
        ],
      )
    }
  }),
  promise('two recalls at the same moment: one withdraws, the other finds it withdrawn', async (subject) => {
    const unknown = sampleMessage({ id: 'two' })
    await subject.storeNew(message)
    const twice = (one: typeof message) => Promise.all([1, 2].map(() => subject.recall(one, DUE_AT - 1)))
    expectEqual('a stored row', (await twice(message)).sort(), ['already-recalled', 'recalled'])
    expectEqual('an unknown one', (await twice(unknown)).sort(), ['already-recalled', 'not-found'])
  }),
  promise(
    'a recall and a store at the same moment: what is stored is withdrawn, or was never stored',
    async (subject) => {
      const messages = sampleMessages(16, 'row', (index) => ({ body: bodyOfBytes(index % 2 === 0 ? 200 : 4_000) }))
      const [stored, ...answers] = await Promise.all([
        subject.store(...messages),
        ...messages.map((one) => subject.recall(one, DUE_AT - 1)),
      ])
      for (const [index, { rowId }] of messages.entries()) {
        expectOneOf(
          `the store and the recall of ${rowId}`,
          [stored[index], answers[index]],
          [
            ['stored', 'recalled'],
            ['recalled', 'not-found'],
          ],
        )
      }
      expectEqual('the rows', await subject.claimIds(DUE_AT), [])
    },
  ),
  promise(
    'a recall and a release at the same moment: a recalled row stays so, one that was too late stays claimable',
    async (subject) => {
      const messages = sampleMessages(12, 'row')
      await subject.storeNew(...messages)
      const { claims } = await subject.claim(DUE_AT)
      const [released, ...answers] = await Promise.all([
        subject.release(...claims.map((claim) => giveBack(claim, DUE_AT))),
        ...claims.map((claim) => subject.recall(claim, DUE_AT)),
      ])
      const left = await subject.claimIds(DUE_AT)
      for (const [index, { rowId }] of claims.entries()) {
        const found = [released[index], answers[index], left.includes(rowId)]
        expectOneOf(`release, recall and claimable, of ${rowId}`, found, [
          ['settled', 'recalled', false],
          ['settled', 'too-late', true],
        ])
      }
    },
  ),
  promise('a recall and a settle of an ended lease at the same moment: exactly one has the row', async (subject) => {
    const messages = sampleMessages(12, 'row')
    await subject.storeNew(...messages)
    const { claims } = await subject.claim(DUE_AT)
    const [settled, ...answers] = await Promise.all([
      subject.settle(...claims),
      ...claims.map((claim) => subject.recall(claim, LEASE_ENDS_AT)),
    ])
    for (const [index, { rowId }] of claims.entries()) {
      expectOneOf(
        `settle and recall of ${rowId}`,
        [settled[index], answers[index]],
        [
          ['settled', 'too-late'],
          ['lease-lost', 'possibly-delivered'],
        ],
      )
    }
    expectEqual('the rows', await subject.claimIds(LEASE_ENDS_AT + LEASE_MARGIN_MS), [])
  }),
]
