import type { RowAddress } from '../../core/persistence.js'
import { expectEqual } from './expectation.js'
import { DUE_AT, sampleMessage, sampleMessages } from './message-samples.js'
import { BEFORE, claimExactlyAt, LATER, message, move, promise, SOONER } from './moving.js'
import { type ContractCase, giveBack } from './subject.js'

/** What the addresses of a moved row promise, of before and after. */
export const movedAddressCases: readonly ContractCase[] = [
  promise('a moved row is recalled by its old address and by its new one', async (subject) => {
    const [two, three] = [sampleMessage({ id: 'two' }), sampleMessage({ id: 'three' })]
    await subject.storeNew(two, three)
    const moved = [await move(subject, two, LATER), await move(subject, three, LATER)] as const
    expectEqual('by the old one', await subject.recall(two, BEFORE), 'recalled')
    expectEqual('by the new one', await subject.recall(moved[1], BEFORE), 'recalled')
    for (const address of [two, three, ...moved])
      expectEqual('again', await subject.recall(address, BEFORE), 'already-recalled')
    expectEqual('a repeat of the send', await subject.store(two), ['recalled'])
    expectEqual('the rows', await subject.claimIds(LATER), [])
  }),
  promise('long after its old instant a moved row is still recalled by its old address', async (subject) => {
    await subject.storeNew(message)
    const moved = await move(subject, message, LATER)
    const hourLater = LATER - 1
    await subject.claim(hourLater)
    await subject.claim(hourLater)
    expectEqual('by the old one', await subject.recall(message, hourLater), 'recalled')
    expectEqual('by the new one', await subject.recall(moved, hourLater), 'already-recalled')
  }),
  promise('a message moved ten times is delivered once, and each of its addresses leads to it', async (subject) => {
    const messages = sampleMessages(11, 'row')
    await subject.storeNew(...messages)
    for (const [index, one] of messages.entries()) {
      const addresses: RowAddress[] = [one]
      for (let times = 1; times <= 10; times++) {
        const from = addresses[(times * 7) % addresses.length] ?? one
        addresses.push(await move(subject, from, DUE_AT + ((times * 3) % 11) * 60_000))
      }
      const by = addresses[index]
      if (index < 10 && by !== undefined) expectEqual(`by ${index}`, await subject.recall(by, BEFORE), 'recalled')
    }
    expectEqual('the rows', await subject.claimIds(LATER), ['row-10'])
    expectEqual('what is left', await subject.claimIds(LATER), [])
  }),
  promise('a row that is moved there and back is where it was', async (subject) => {
    await subject.storeNew(message)
    const moved = await move(subject, message, LATER)
    await move(subject, moved, DUE_AT)
    expectEqual('a repeat of the send', await subject.store(message), ['duplicate'])
    const claim = await claimExactlyAt(subject, DUE_AT)
    expectEqual('a recall by the other address', await subject.recall(moved, DUE_AT), 'too-late')
    expectEqual('the settle', await subject.settle(claim), ['settled'])
    for (const address of [message, moved])
      expectEqual('a recall after it', await subject.recall(address, DUE_AT), 'too-late')
    expectEqual('what is left', await subject.claimIds(LATER), [])
  }),
  promise('a moved row that was delivered is too-late by both addresses, whatever their instants', async (subject) => {
    await subject.storeNew(message)
    const moved = await move(subject, message, SOONER)
    await subject.settle(await subject.claimOne(SOONER))
    for (const address of [message, moved]) {
      expectEqual('a recall', await subject.recall(address, SOONER), 'too-late')
      expectEqual('a move', (await subject.reschedule(address, LATER, SOONER)).outcome, 'too-late')
    }
  }),
  promise('a repeat of the send after a move stores no second row', async (subject) => {
    await subject.storeNew(message)
    await move(subject, message, LATER)
    expectEqual('the repeat', await subject.store(message), ['duplicate'])
    expectEqual('another message', await subject.store(sampleMessage({ id: 'one', body: '"other"' })), ['conflict'])
    expectEqual('the rows', await subject.claimIds(LATER), ['one'])
  }),
  promise('a row that dies after a move is recalled by its old address', async (subject) => {
    await subject.storeNew(message)
    await move(subject, message, LATER)
    const dead = { reason: 'refused', diedAt: LATER }
    await subject.release(giveBack(await subject.claimOne(LATER), LATER, { dead }))
    expectEqual('a move', (await subject.reschedule(message, LATER + 9, LATER)).outcome, 'dead')
    expectEqual('the recall', await subject.recall(message, LATER), 'recalled')
    expectEqual('the dead', (await subject.persistence.measureBacklog(LATER)).dead, 0)
  }),
]
