import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KeyedMessage, Keys } from '../../lib/core/keys.js'
import type { Batching } from '../../lib/dynamodb/table.js'
import { BEFORE, KEY, keyed, LATER, storeKeyed, storeNewKeyed } from '../../lib/testing/contract/keying.js'
import { bodyOfBytes, DUE_AT } from '../../lib/testing/contract/message-samples.js'
import { createSubject, type Subject } from '../../lib/testing/contract/subject.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { sdkError, watchClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

const DAY_MS = 86_400_000
const modes: readonly Batching[] = whyNoDynoxide() === undefined ? ['partiql', 'single'] : ['single']
const ends = ['before', 'after'] as const

/** What the send is, how the key is when it begins, and how many calls it takes at most. */
type Case = readonly [
  about: string,
  before: 'recalled' | 'waiting' | undefined,
  message: KeyedMessage,
  choice: Parameters<Keys['storeUnderKey']>[1],
  calls: number,
]

/** What passes at these instants deliver, and when. */
const deliverAll = async (subject: Subject, ...instants: readonly number[]) => {
  const delivered: string[] = []
  for (const at of [...instants].sort((one, other) => one - other)) {
    for (let passes = 0; passes < 3; passes++) {
      const { claims } = await subject.claim(at)
      delivered.push(...claims.map(({ rowId }) => `${rowId} at ${at - DUE_AT}`))
      await subject.settle(...claims)
    }
  }
  return delivered
}

describe.each(modes)('a send with a key that ends at any call (%s)', (batching) => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(batching === 'partiql' ? 'dynoxide' : 'dynalite')
  })
  afterAll(() => emulator.stop())

  const old = keyed('old')
  const body = bodyOfBytes(3_000)

  const cases: readonly Case[] = [
    ['under a key never used', undefined, keyed('new', { dueAt: LATER }), 'keep', 5],
    ['under a key whose message was recalled', 'recalled', keyed('new', { dueAt: LATER, body }), 'keep', 7],
    ['that replaces', 'waiting', keyed('new', { dueAt: LATER }), 'replace', 9],
    ['that replaces, to sooner', 'waiting', keyed('new', { dueAt: DUE_AT - 9_000, body }), 'replace', 10],
    ['that replaces the payload', 'waiting', keyed('new', { dueAt: LATER }), 'replace-payload', 9],
  ]

  const endAt = async (nth: number, end: (typeof ends)[number], [, before, message, choice]: Case) => {
    const open = await openPersistence(emulator, { batching })
    if (before !== undefined) await storeNewKeyed(open.subject, old)
    if (before === 'recalled') await open.subject.recall(old, BEFORE)
    let made = 0
    watchClient(open.client, () => {
      made++
      if (made < nth) return undefined
      return made === nth && end === 'after' ? { lose: sdkError('Ended') } : { refuse: sdkError('Ended') }
    })
    const { outcome } = await storeKeyed(open.subject, message, choice)
    return { ...open, outcome, made: () => made, another: createSubject(open.beside()) }
  }

  // What differs between the modes is how registers are swapped: two cases show it.
  const chosen = cases.filter((_one, index) => batching === 'partiql' || index === 0 || index === 2)

  describe.each(chosen)('%s', (...one) => {
    const [, before, message, choice, calls] = one
    const dueAt = choice === 'replace-payload' ? DUE_AT : message.dueAt
    const [newDelivery, oldDelivery] = [`new at ${dueAt - DUE_AT}`, 'old at 0']

    test(`it takes at most ${calls} calls`, async () => {
      const { made, outcome, logged } = await endAt(99, 'before', one)
      expect([outcome, logged]).toEqual(['stored', []])
      expect(made()).toBeLessThanOrEqual(calls)
    })

    const cuts = Array.from({ length: calls }, (_, index) => index + 1).flatMap((nth) =>
      ends.map((end) => [nth, end] as const),
    )

    test.each(cuts)('ended at call %i, %s it was done: one of the two is delivered, once', async (nth, end) => {
      const { another, outcome, items } = await endAt(nth, end, one)
      const delivered = await deliverAll(another, dueAt, DUE_AT, LATER, LATER + DAY_MS)
      const allowed = [...(before === 'waiting' ? [[oldDelivery]] : [[]]), [newDelivery]]
      expect(outcome === 'stored' ? [[newDelivery]] : allowed).toContainEqual(delivered)
      expect(await items('due#')).toEqual([])
    })

    test.each(cuts)('ended at call %i, %s it was done: the key still holds one', async (nth, end) => {
      const { another } = await endAt(nth, end, one)
      const third = keyed('third', { dueAt: LATER + 5 })
      await storeNewKeyed(another, third, 'replace')
      expect((await storeKeyed(another, keyed('fourth'))).outcome).toBe('kept')
      const instants = [dueAt, DUE_AT, LATER, LATER + 5, LATER + DAY_MS]
      expect(await deliverAll(another, ...instants)).toEqual([`third at ${LATER + 5 - DUE_AT}`])
      expect((await storeKeyed(another, keyed('fifth', { dueAt: LATER + DAY_MS }), 'keep', LATER)).outcome).toBe(
        'stored',
      )
    })

    test.each(cuts)('ended at call %i, %s it was done: sent again, it is there once', async (nth, end) => {
      const { another } = await endAt(nth, end, one)
      const again = await storeKeyed(another, message, choice)
      expect(['stored', 'duplicate']).toContain(again.outcome)
      expect(await deliverAll(another, dueAt, DUE_AT, LATER, LATER + DAY_MS)).toEqual([newDelivery])
    })

    test.each(cuts)('ended at call %i, %s it was done: a recall by key leaves nothing', async (nth, end) => {
      const { another } = await endAt(nth, end, one)
      for (let looks = 0; looks < 2; looks++) {
        const address = await another.persistence.keys?.findKey(KEY)
        if (address !== undefined) await another.recall(address, BEFORE)
      }
      expect(await deliverAll(another, dueAt, DUE_AT, LATER, LATER + DAY_MS)).toEqual([])
    })
  })
})
