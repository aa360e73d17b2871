import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RescheduleOutcome } from '../../lib/core/persistence.js'
import { keyed, nameOf, storeKeyed } from '../../lib/testing/contract/keying.js'
import { bodyOfBytes, DUE_AT, sampleMessage } from '../../lib/testing/contract/message-samples.js'
import { createSubject, LEASE_ENDS_AT, LEASE_MS, type Subject } from '../../lib/testing/contract/subject.js'
import { createRandom, type Random } from '../simulation/random.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { type Actor, interleave } from './interleave.js'
import { openPersistence } from './open-persistence.js'

const SEEDS = 200
const LATER = LEASE_ENDS_AT + 60_000
const SOONER = DUE_AT - 20_000

/** What happened to each message. */
interface Told {
  readonly published: string[]
  readonly recalls: [id: string, answer: string][]
  readonly moves: RescheduleOutcome[]
  readonly stores: [id: string, outcome: string][]
}

/** Publishes and settles what is there at an instant. */
const dispatch = async (subject: Subject, told: Told, now: number) => {
  const { claims } = await subject.claim(now)
  told.published.push(...claims.map(({ rowId }) => rowId))
  await subject.settle(...claims)
}

/** All that is still to be delivered, by passes long after. */
const dispatchRest = async (subject: Subject, told: Told) => {
  for (const now of [LEASE_ENDS_AT, LATER, LATER + LEASE_MS, LATER + 3_600_000])
    for (let passes = 0; passes < 3; passes++) await dispatch(subject, told, now)
}

const countOf = (ids: readonly string[], id: string) => ids.filter((one) => one === id).length

const stage = async (emulator: TestDynamoDb) => {
  const open = await openPersistence(emulator)
  const told: Told = { published: [], recalls: [], moves: [], stores: [] }
  const actor = (name: string, act: (subject: Subject) => Promise<void>): Actor => {
    const client = emulator.client()
    const subject = createSubject(open.beside({ client }))
    return { name, client, act: () => act(subject) }
  }
  return { ...open, told, actor }
}

describe.skipIf(whyNoDynoxide() !== undefined)('requests in any order', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb('dynoxide')
  })
  afterAll(() => emulator.stop())

  /** One message; claims, recalls and moves at the same moment, some of which end half-way. */
  const runMoves = async (random: Random) => {
    const { subject, told, actor, items } = await stage(emulator)
    const message = sampleMessage({ id: 'one', ...(random.chance(0.3) && { body: bodyOfBytes(2_000) }) })
    await subject.storeNew(message)
    // Before its instant, only what moved to sooner is due.
    const now = random.pick([SOONER, SOONER + 6_000, SOONER + 6_000, DUE_AT])
    const claimer = (name: string) => actor(name, (one) => dispatch(one, told, now))
    const recaller = (name: string) =>
      actor(name, async (one) => {
        told.recalls.push(['one', await one.recall(message, now)])
      })
    const mover = (name: string) => {
      const to = random.pick([LATER, LATER + 1, SOONER, SOONER, SOONER])
      return actor(name, async (one) => {
        told.moves.push(await one.reschedule(message, to, SOONER))
      })
    }
    const kinds = [mover, claimer, recaller, mover]
    const actors = Array.from({ length: random.integer(2, 4) }, (_, index) =>
      (index === 0 ? mover : random.pick(kinds))(`${index}`),
    )
    const { order, ended } = await interleave(random, actors, random.chance(0.5) ? 0.05 : 0)
    await dispatchRest(subject, told)

    const about = JSON.stringify({ order, ended: [...ended], told })
    const answers = told.recalls.map(([, answer]) => answer)
    const count = countOf(told.published, 'one')
    if (answers.includes('recalled')) expect(count, about).toBe(0)
    if (answers.includes('not-found')) expect('not-found', about).toBe('never')
    expect(answers.filter((answer) => answer === 'recalled').length, about).toBeLessThan(2)
    const isPerhapsWithdrawn = answers.some((answer) => answer !== 'too-late') || ended.size > 0
    if (!isPerhapsWithdrawn) expect(count, about).toBe(1)
    // A claimer that ended may have published, and not settled: it goes out again, once the lease has ended.
    expect(count, about).toBeLessThan(ended.size === 0 ? 2 : 2 + ended.size)
    if (answers.includes('too-late') && ended.size === 0) expect(count, about).toBe(1)
    expect(await items('due#'), about).toEqual([])
  }

  /** One key; messages that replace and keep at the same moment as claims and recalls. */
  const runKeys = async (random: Random) => {
    const { subject, told, actor, items } = await stage(emulator)
    const old = keyed('old')
    if (random.chance(0.7)) await storeKeyed(subject, old)
    const now = random.pick([SOONER, SOONER + 6_000, SOONER + 6_000, DUE_AT])
    const claimer = (name: string) => actor(name, (one) => dispatch(one, told, now))
    const sender = (choice: 'keep' | 'replace' | 'replace-payload') => (name: string) =>
      actor(name, async (one) => {
        const message = keyed(`m${name}`, { dueAt: random.pick([LATER, LATER + 1, SOONER]) })
        const found = await storeKeyed(one, message, choice, now)
        told.stores.push([found.outcome === 'kept' ? found.address.rowId : `m${name}`, nameOf(found)])
      })
    const recaller = (name: string) =>
      actor(name, async (one) => {
        const address = await one.persistence.keys?.findKey(old.key)
        if (address !== undefined) told.recalls.push([address.rowId, await one.recall(address, now)])
      })
    const kinds = [claimer, recaller, sender('keep'), sender('replace'), sender('replace'), sender('replace-payload')]
    const actors = Array.from({ length: random.integer(2, 4) }, (_, index) => random.pick(kinds)(`${index}`))
    const { order, ended } = await interleave(random, actors, random.chance(0.5) ? 0.05 : 0)
    const holder = await subject.persistence.keys?.findKey(old.key)
    const publishedBefore = told.published.length
    await dispatchRest(subject, told)

    const about = JSON.stringify({ order, ended: [...ended], told, holder })
    if (ended.size === 0) for (const id of told.published) expect(countOf(told.published, id), about).toBe(1)
    for (const [id, answer] of told.recalls) if (answer !== 'too-late') expect(told.published, about).not.toContain(id)
    for (const [, outcome] of told.stores) expect(['stored', 'kept'], about).toContain(outcome)
    const rest = told.published.slice(publishedBefore)
    // A claimer that ended held the message that it claimed; whatever else is left is the one that the key holds.
    const isWithdrawn = told.recalls.some(([id, answer]) => id === holder?.rowId && answer !== 'too-late')
    const isDelivered = holder === undefined || told.published.slice(0, publishedBefore).includes(holder.rowId)
    if (!isWithdrawn && !isDelivered && ended.size === 0) expect(rest, about).toEqual([holder.rowId])
    if (ended.size === 0) expect(rest.length, about).toBeLessThan(2)
    expect(rest.length, about).toBeLessThan(3)
    expect(await items('due#'), about).toEqual([])
  }

  const seeds = Array.from({ length: SEEDS }, (_, seed) => seed)

  test(`claims, recalls and moves of one message: ${SEEDS} orders`, async () => {
    for (const seed of seeds) await runMoves(createRandom(`moves-${seed}`))
  }, 120_000)

  test(`sends, claims and recalls of one key: ${SEEDS} orders`, async () => {
    for (const seed of seeds) await runKeys(createRandom(`keys-${seed}`))
  }, 120_000)
})
