import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Batching } from '../../lib/dynamodb/table.js'
import { bodyOfBytes, DUE_AT, sampleMessage } from '../../lib/testing/contract/message-samples.js'
import { createSubject, giveBack } from '../../lib/testing/contract/subject.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { sdkError, watchClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

const LATER = DUE_AT + 3_600_000
const DEAD = { reason: 'refused', diedAt: DUE_AT }
const modes: readonly Batching[] = whyNoDynoxide() === undefined ? ['partiql', 'single'] : ['single']
const ends = ['before', 'after'] as const

describe.each(modes)('a dead row that is put back by a process that ends at any call (%s)', (batching) => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(batching === 'partiql' ? 'dynoxide' : 'dynalite')
  })
  afterAll(() => emulator.stop())

  const cases = [
    ['thin', sampleMessage({ id: 'one' }), 8],
    ['thick', sampleMessage({ id: 'one', body: bodyOfBytes(3_000) }), 9],
  ] as const

  describe.each(cases)('%s', (_, message, calls) => {
    const endAt = async (nth: number, end: (typeof ends)[number]) => {
      const open = await openPersistence(emulator, { batching })
      await open.subject.storeNew(message)
      await open.subject.release(giveBack(await open.subject.claimOne(DUE_AT), DUE_AT, { dead: DEAD }))
      let made = 0
      watchClient(open.client, () => {
        made++
        if (made < nth) return undefined
        return made === nth && end === 'after' ? { lose: sdkError('Ended') } : { refuse: sdkError('Ended') }
      })
      const outcome = await open.persistence.inspection.putBack(message, LATER, LATER - 9).then(
        (result) => result.outcome,
        () => 'ended',
      )
      const another = open.beside()
      return { ...open, outcome, made: () => made, another, anotherSubject: createSubject(another) }
    }

    test(`it takes ${calls} calls`, async () => {
      const { made, outcome, logged } = await endAt(99, 'before')
      expect([made(), outcome, logged]).toEqual([calls, 'put-back', []])
    })

    const cuts = Array.from({ length: calls }, (_call, index) => index + 1).flatMap((nth) =>
      ends.map((end) => [nth, end] as const),
    )

    test.each(cuts)(
      'ended at call %i, %s it was done: dead or waiting, never both and never neither',
      async (nth, end) => {
        const { another, anotherSubject, items } = await endAt(nth, end)
        const dead = (await another.inspection.listDead(9)).length
        const delivered: string[] = []
        // A row whose move was not made is removed by a pass some seconds after its instant.
        for (const at of [LATER, LATER, LATER + 60_000, LATER + 60_000]) {
          const { claims } = await anotherSubject.claim(at)
          expect(claims.map(({ envelope }) => envelope)).toEqual(claims.map(() => message.envelope))
          delivered.push(...claims.map(({ rowId }) => rowId))
          await anotherSubject.settle(...claims)
        }
        expect(dead + delivered.length).toBe(1)
        expect(await another.inspection.listDead(9)).toHaveLength(dead)
        expect(await items('due#')).toEqual([])
      },
    )

    test.each(cuts)('ended at call %i, %s it was done: put back again, it waits', async (nth, end) => {
      const { another, anotherSubject } = await endAt(nth, end)
      const again = await another.inspection.putBack(message, LATER, LATER - 9)
      expect(['put-back', 'not-found']).toContain(again.outcome)
      await anotherSubject.claim(LATER)
      const { claims } = await anotherSubject.claim(LATER + 120_000)
      expect(claims).toHaveLength(1)
      expect(await another.inspection.listDead(9)).toEqual([])
    })
  })
})
