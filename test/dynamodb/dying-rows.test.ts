import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Batching } from '../../lib/dynamodb/table.js'
import { bodyOfBytes, DUE_AT, sampleMessage } from '../../lib/testing/contract/message-samples.js'
import { createSubject, giveBack, idsOf, LEASE_ENDS_AT } from '../../lib/testing/contract/subject.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { sdkError, watchClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

const DEAD = { reason: 'refused: too large', diedAt: DUE_AT + 1 }
const modes: readonly Batching[] = whyNoDynoxide() === undefined ? ['partiql', 'single'] : ['single']

describe.each(modes)('a process that ends while a row dies (%s)', (batching) => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(batching === 'partiql' ? 'dynoxide' : 'dynalite')
  })
  afterAll(() => emulator.stop())

  /** Gives a row up by a process whose every call fails from the call of this number on: as if it had ended there. */
  const dieAfter = async (calls: number, body: string | undefined, published: 'no' | 'perhaps' = 'no') => {
    const open = await openPersistence(emulator, { batching })
    const message = sampleMessage({ id: 'one', ...(body !== undefined && { body }) })
    await open.subject.storeNew(message)
    const claim = await open.subject.claimOne(DUE_AT)
    let made = 0
    watchClient(open.client, () => (++made > calls ? { refuse: sdkError('Ended') } : undefined))
    const outcome = await open.subject.release(giveBack(claim, DUE_AT, { dead: DEAD, published }))
    const another = open.beside()
    return { ...open, message, outcome, made: () => made, another, anotherSubject: createSubject(another) }
  }

  const bodies = [
    ['thin', undefined, 3],
    ['thick', bodyOfBytes(3_000), 4],
  ] as const

  describe.each(bodies)('%s', (_, body, callsInAll) => {
    const cuts = Array.from({ length: callsInAll + 1 }, (_, calls) => calls)

    test(`it takes ${callsInAll} calls`, async () => {
      const { made, outcome, logged } = await dieAfter(99, body)
      expect([made(), outcome, logged]).toEqual([callsInAll, ['settled'], []])
    })

    test.each(cuts)('after %i calls: one row, either still to deliver or dead with its message', async (calls) => {
      const { message, items, another, anotherSubject } = await dieAfter(calls, body)
      const look = await anotherSubject.claim(LEASE_ENDS_AT)
      if (calls === 0) {
        expect(idsOf(look.claims)).toEqual(['one'])
        expect(await another.inspection.listDead(10)).toEqual([])
        return
      }
      expect([look.claims, look.nextDueAt]).toEqual([[], undefined])
      expect(await another.inspection.listDead(10)).toEqual([
        { shard: 0, dueAt: DUE_AT, rowId: 'one', envelope: message.envelope, failures: 0, ...DEAD },
      ])
      expect(await items('due#')).toEqual([])
      // What stays as long as the dead row does has no TTL.
      for (const item of await items()) expect(item.expiresAt).toBeUndefined()
    })

    test.each(cuts.slice(1))('after %i calls: a recall withdraws it, and it stays withdrawn', async (calls) => {
      const { message, items, another, anotherSubject } = await dieAfter(calls, body)
      expect(await anotherSubject.recall(message, DUE_AT + 5)).toBe('recalled')
      expect(await anotherSubject.recall(message, DUE_AT + 5)).toBe('already-recalled')
      expect((await anotherSubject.claim(LEASE_ENDS_AT)).claims).toEqual([])
      expect(await another.inspection.listDead(10)).toEqual([])
      expect(await items('due#')).toEqual([])
      expect(await items('body#')).toEqual([])
    })

    test.each(cuts.slice(1))('after %i calls: a recall of what was perhaps published says so', async (calls) => {
      const { message, anotherSubject } = await dieAfter(calls, body, 'perhaps')
      expect(await anotherSubject.recall(message, DUE_AT + 5)).toBe('possibly-delivered')
    })

    test('a recall in the middle of the death is not undone by it', async () => {
      for (let call = 2; call <= callsInAll; call++) {
        const open = await openPersistence(emulator, { batching })
        const message = sampleMessage({ id: 'one', ...(body !== undefined && { body }) })
        await open.subject.storeNew(message)
        const claim = await open.subject.claimOne(DUE_AT)
        const recaller = createSubject(open.beside())
        const answers: string[] = []
        let made = 0
        watchClient(open.client, () =>
          ++made === call
            ? {
                before: async () => {
                  answers.push(await recaller.recall(message, DUE_AT + 5))
                },
              }
            : undefined,
        )
        await open.subject.release(giveBack(claim, DUE_AT, { dead: DEAD }))
        expect([call, answers]).toEqual([call, ['recalled']])
        expect(await open.persistence.inspection.listDead(10)).toEqual([])
        expect((await recaller.claim(LEASE_ENDS_AT)).claims).toEqual([])
        expect(await open.items('body#')).toEqual([])
      }
    })

    test('a recaller that ends in the middle leaves the row dead or withdrawn, never both and never due', async () => {
      for (let calls = 0; calls <= 4; calls++) {
        const { message, beside, another, anotherSubject, items } = await dieAfter(1, body)
        const client = emulator.client()
        let made = 0
        watchClient(client, () => (++made > calls ? { refuse: sdkError('Ended') } : undefined))
        const recaller = createSubject(beside({ client }))
        await recaller.recall(message, DUE_AT + 5).catch(() => 'ended')
        expect((await anotherSubject.claim(LEASE_ENDS_AT)).claims).toEqual([])
        const dead = await another.inspection.listDead(10)
        expect(await items('due#')).toEqual([])
        const again = await anotherSubject.recall(message, DUE_AT + 6)
        expect([calls, again]).toEqual([calls, dead.length === 1 ? 'recalled' : 'already-recalled'])
      }
    })
  })

  test('two passes and a release that finish one death together leave one dead row', async () => {
    const { anotherSubject, another, beside, items } = await dieAfter(1, bodyOfBytes(3_000))
    const passes = await Promise.all([anotherSubject, createSubject(beside())].map((one) => one.claim(LEASE_ENDS_AT)))
    expect(passes.flatMap(({ claims }) => claims)).toEqual([])
    expect(idsOf(await another.inspection.listDead(10))).toEqual(['one'])
    expect(await items('due#')).toEqual([])
  })

  test.each(bodies)(
    'a message (%s) that was sent again after its dead row was recalled is kept when it dies again',
    async (_, body) => {
      const { message, another, anotherSubject } = await dieAfter(99, body)
      expect(await anotherSubject.recall(message, DUE_AT + 5)).toBe('recalled')
      expect(await another.inspection.listDead(10)).toEqual([])
      await anotherSubject.storeNew(message)
      const claim = await anotherSubject.claimOne(DUE_AT + 6)
      await anotherSubject.release(giveBack(claim, DUE_AT + 6, { dead: DEAD }))
      expect(await another.inspection.listDead(10)).toMatchObject([{ rowId: 'one', envelope: message.envelope }])
      expect(await anotherSubject.recall(message, DUE_AT + 7)).toBe('recalled')
      expect(await another.inspection.listDead(10)).toEqual([])
    },
  )
})
