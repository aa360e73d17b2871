import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PersistenceUnderTest, scheduledMessageTests } from '../../lib/testing/scheduled-message-tests.js'
import { type ContractStore, contractStores, mayBeAbsent, type RunningStore } from './stores.js'
import { missingOutcomes, type SeenOutcomes, watchOutcomes } from './watch-outcomes.js'

/** Case by store: what actually ran to its end. An empty cell is a promise that nobody checked. */
const ran = new Map<string, Set<string>>()

/** Outcome by store: what was answered at all. */
const seen: SeenOutcomes = new Map()

const present = contractStores.filter((store) => store.unavailable() === undefined)
const absent = contractStores.filter((store) => store.unavailable() !== undefined)

const namesOf = (createPersistence: () => Promise<PersistenceUnderTest>) =>
  scheduledMessageTests(createPersistence).map((one) => ({ ...one, title: `${one.topic}: ${one.name}` }))

const allTitles = namesOf(() => Promise.reject(new Error('only the names are wanted'))).map(({ title }) => title)

const runContract = (store: ContractStore) => {
  let running: RunningStore | undefined
  beforeAll(async () => {
    running = await store.start()
  })
  afterAll(async () => {
    await running?.stop()
  })
  const create = async () => {
    if (running === undefined) throw new Error(`${store.name} has not started`)
    return watchOutcomes(await running.create(), store.name, seen)
  }
  for (const { title, run } of namesOf(create)) {
    test(title, async () => {
      await run()
      ran.set(title, (ran.get(title) ?? new Set()).add(store.name))
    })
  }
}

for (const store of present) describe(store.name, () => runContract(store))

describe('the contract as a whole', () => {
  test('no two promises have one name', () => {
    expect(allTitles.length).toBeGreaterThan(100)
    expect(allTitles.filter((title, index) => allTitles.indexOf(title) !== index)).toEqual([])
  })

  test('only emulators that a machine may lack are absent', () => {
    const wrongly = absent.filter((store) => !mayBeAbsent(store))
    expect(wrongly.map((store) => `${store.name}: ${store.unavailable()}`)).toEqual([])
    for (const store of absent) console.log(`the contract did not run on ${store.name}: ${store.unavailable()}`)
  })

  test('every promise was checked on every store that is present', () => {
    const empty = allTitles.flatMap((title) =>
      present.filter((store) => !ran.get(title)?.has(store.name)).map((store) => `${title} × ${store.name}`),
    )
    expect(empty).toEqual([])
    expect(present.map(({ name }) => name)).toContain('memory')
  })

  test('every outcome of a recall, a move, a key and a dead row was answered by every store that is present', () => {
    const missing = missingOutcomes(
      present.map(({ name }) => name),
      seen,
    )
    expect(missing).toEqual([])
  })
})
