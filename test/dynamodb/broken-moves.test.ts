import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Claim } from '../../lib/core/persistence.js'
import type { Batching } from '../../lib/dynamodb/table.js'
import { bodyOfBytes, DUE_AT, sampleMessage } from '../../lib/testing/contract/message-samples.js'
import { createSubject, giveBack, LEASE_MS, type Subject } from '../../lib/testing/contract/subject.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { sdkError, watchClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

const BEFORE = DUE_AT - 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const modes: readonly Batching[] = whyNoDynoxide() === undefined ? ['partiql', 'single'] : ['single']

/** A process that ends at a call: before it reaches the store, or after the store did it. */
const ends = ['before', 'after'] as const

/** What is claimed and settled by passes from the first instant to the last, and when. */
const deliverAll = async (subject: Subject, instants: readonly number[]) => {
  const delivered: { readonly at: number; readonly claim: Claim }[] = []
  for (const at of instants) {
    // A pass that puts a row in force leaves it to the next one.
    for (let passes = 0; passes < 3; passes++) {
      const { claims } = await subject.claim(at)
      delivered.push(...claims.map((claim) => ({ at, claim })))
      await subject.settle(...claims)
    }
  }
  return delivered
}

describe.each(modes)('a reschedule that ends at any call (%s)', (batching) => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(batching === 'partiql' ? 'dynoxide' : 'dynalite')
  })
  afterAll(() => emulator.stop())

  const message = (body?: string) => sampleMessage({ id: 'one', ...(body !== undefined && { body }) })

  /** Moves a message by a process that ends at its nth call. */
  const endAt = async (nth: number, end: (typeof ends)[number], to: number, body?: string) => {
    const open = await openPersistence(emulator, { batching })
    await open.subject.storeNew(message(body))
    let made = 0
    watchClient(open.client, () => {
      made++
      if (made < nth) return undefined
      return made === nth && end === 'after' ? { lose: sdkError('Ended') } : { refuse: sdkError('Ended') }
    })
    const outcome = await open.subject.reschedule(message(body), to, BEFORE).then(
      (result) => result.outcome,
      () => 'ended',
    )
    return { ...open, outcome, made: () => made, another: createSubject(open.beside()) }
  }

  const cases = [
    ['thin, to later', undefined, DUE_AT + HOUR_MS, 7],
    ['thin, to sooner', undefined, DUE_AT - 30_000, 7],
    // Thin as it is sent, and too thick with what a move adds: it gets a body.
    ['nearly a kilobyte', bodyOfBytes(830), DUE_AT + HOUR_MS, 8],
    ['10 KB, to later', bodyOfBytes(10_240), DUE_AT + HOUR_MS, 8],
  ] as const

  // What differs between the modes is how registers are swapped: two cases show it.
  const chosen = batching === 'partiql' ? cases : [cases[0], cases[3]]

  describe.each(chosen)('%s', (_, body, to, calls) => {
    test(`it takes ${calls} calls`, async () => {
      const { made, outcome, logged } = await endAt(99, 'before', to, body)
      expect([made(), outcome, logged]).toEqual([calls, 'rescheduled', []])
    })

    const cuts = Array.from({ length: calls }, (_, index) => index + 1).flatMap((nth) =>
      ends.map((end) => [nth, end] as const),
    )

    test.each(cuts)('ended at call %i, %s it was done: delivered once, at one of the instants', async (nth, end) => {
      const { another, outcome, items } = await endAt(nth, end, to, body)
      const instants = [BEFORE, to - 1, DUE_AT - 1, to, DUE_AT, to + HOUR_MS, to + DAY_MS].sort(
        (one, other) => one - other,
      )
      const delivered = await deliverAll(another, instants)
      expect(delivered.length).toBe(1)
      const [{ at, claim }] = delivered as [(typeof delivered)[0]]
      expect(claim.envelope).toEqual(message(body).envelope)
      expect([to, DUE_AT]).toContain(at)
      if (outcome === 'rescheduled') expect(at).toBe(to)
      // Nothing of it is left among the due rows, whatever became of it.
      expect(await items('due#')).toEqual([])
    })

    test.each(cuts)('ended at call %i, %s it was done: a recall by the old address withdraws it', async (nth, end) => {
      const { another } = await endAt(nth, end, to, body)
      expect(await another.recall(message(body), BEFORE)).toBe('recalled')
      expect(await deliverAll(another, [DUE_AT, to, to + DAY_MS])).toEqual([])
    })

    test.each(cuts)('ended at call %i, %s it was done: moving it again moves it', async (nth, end) => {
      const { another } = await endAt(nth, end, to, body)
      const result = await another.reschedule(message(body), to + 7, BEFORE)
      expect(result).toMatchObject({ outcome: 'rescheduled', address: { dueAt: to + 7 } })
      const delivered = await deliverAll(
        another,
        [DUE_AT, to, to + 7, to + DAY_MS].sort((one, other) => one - other),
      )
      expect(delivered.map(({ claim }) => claim.dueAt)).toEqual([to + 7])
    })
  })

  test('a claim by one who saw the row before its move gets nothing', async () => {
    const { subject, client, beside, items } = await openPersistence(emulator, { batching })
    await subject.storeNew(message())
    const mover = createSubject(beside())
    watchClient(client, ({ command }) =>
      command === 'QueryCommand'
        ? {
            after: async () => {
              await mover.reschedule(message(), DUE_AT + HOUR_MS, DUE_AT)
            },
          }
        : undefined,
    )
    expect((await subject.claim(DUE_AT)).claims).toEqual([])
    expect(await items('due#')).toHaveLength(2)
    expect(await mover.claimIds(DUE_AT + HOUR_MS)).toEqual(['one'])
  })

  test('a pass leaves alone what is about to be moved to now', async () => {
    const { subject, client, beside } = await openPersistence(emulator, { batching })
    await subject.storeNew(message())
    const another = createSubject(beside())
    let made = 0
    watchClient(client, ({ command }) => {
      made++
      return command === 'PutItemCommand'
        ? {
            after: async () => {
              expect(await another.claimIds(BEFORE)).toEqual([])
            },
          }
        : undefined
    })
    expect((await subject.reschedule(message(), BEFORE, BEFORE)).outcome).toBe('rescheduled')
    expect(made).toBe(7)
    expect(await another.claimIds(BEFORE)).toEqual(['one'])
  })

  test('an insert that arrives after its row was dispatched brings nothing back', async () => {
    const { subject, client, items, beside } = await openPersistence(emulator, { batching })
    await subject.storeNew(message())
    let late: object | undefined
    watchClient(client, ({ command, input }) => {
      if (command === 'PutItemCommand') late = input
      return undefined
    })
    await subject.reschedule(message(), BEFORE, BEFORE)
    await subject.settle(await subject.claimOne(BEFORE))
    expect(late).toBeDefined()
    const { PutItemCommand } = await import('@aws-sdk/client-dynamodb')
    await emulator.client().send(new PutItemCommand(late as ConstructorParameters<typeof PutItemCommand>[0]))
    const another = createSubject(beside())
    expect(await deliverAll(another, [BEFORE, DUE_AT, DUE_AT + HOUR_MS])).toEqual([])
    expect(await items('due#')).toEqual([])
  })

  test('a row given back for later and one that was perhaps published stay so when their move breaks off', async () => {
    const { subject, client, beside } = await openPersistence(emulator, { batching })
    await subject.storeNew(message())
    await subject.release(giveBack(await subject.claimOne(DUE_AT), DUE_AT + 5_000, { published: 'perhaps' }))
    let puts = 0
    watchClient(client, ({ command }) => {
      if (command === 'PutItemCommand') puts++
      return puts > 0 && command !== 'PutItemCommand' ? { refuse: sdkError('Ended') } : undefined
    })
    await subject.reschedule(message(), DUE_AT + 1_000, DUE_AT).catch(() => 'ended')
    const another = createSubject(beside())
    // The arriving row is due first; it is removed, and its origin is as it was.
    expect(await another.claimIds(DUE_AT + 4_999)).toEqual([])
    const claim = await another.claimOne(DUE_AT + 5_000)
    expect(await another.recall(message(), DUE_AT + 6_000 + LEASE_MS * 2)).toBe('possibly-delivered')
    expect(claim.dueAt).toBe(DUE_AT)
  })
})
