import { describe, expect, test } from 'vitest'
import type { Dispatcher } from '../../lib/core/dispatch/dispatcher.js'
import { silentLogger } from '../../lib/core/observation.js'
import type { Coordination, DelayingPersistence } from '../../lib/core/persistence.js'
import { answerHint, takeTurn } from '../../lib/core/worker.js'
import { setStage } from './dispatch/stage.js'

type Actor = 'worker' | 'first' | 'second'

/** Lets the calls of each actor to the store happen one at a time, in an order that the test gives; then freely. */
const createSteps = () => {
  const waiting = new Map<Actor, () => void>()
  let isFree = false
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  return {
    before: (actor: Actor) =>
      isFree ? Promise.resolve() : new Promise<void>((resolve) => void waiting.set(actor, resolve)),
    take: async (actor: Actor) => {
      const go = waiting.get(actor)
      waiting.delete(actor)
      go?.()
      await turn()
    },
    setFree: () => {
      isFree = true
      for (const go of waiting.values()) go()
    },
    turn,
  }
}

/** Every order in which the steps of the actors can follow each other. */
function* interleave(steps: Readonly<Record<Actor, number>>, done: readonly Actor[] = []): Generator<readonly Actor[]> {
  const left = (Object.keys(steps) as Actor[]).filter((actor) => steps[actor] > 0)
  if (left.length === 0) yield done
  for (const actor of left) yield* interleave({ ...steps, [actor]: steps[actor] - 1 }, [...done, actor])
}

interface Search {
  readonly stopsInMs?: number
  /** Takes the second look away, to show that the search would find it missing. */
  readonly withoutLastLook?: boolean
}

/**
 * One order of: a worker that finds nothing and leaves (reads the lease, takes it, looks, gives it back, looks once more),
 * and senders that store a row, whose wake hint is answered at once. Answers the rows that did not go out at their instant.
 */
const missedIn = async (order: readonly Actor[], rows: Readonly<Partial<Record<Actor, number>>>, search: Search) => {
  const stage = setStage()
  const { clock, startAt, store, put } = stage
  const steps = createSteps()
  const share = { clock, store }
  const storeOf = (actor: Actor) => (): DelayingPersistence => ({
    ...store,
    claimDueOutgoingMessages: async (request) => {
      await steps.before(actor)
      return store.claimDueOutgoingMessages(request)
    },
  })
  const coordinationOf = (actor: Actor): Coordination => ({
    ...store.coordination,
    readWorker: async () => {
      await steps.before(actor)
      return store.coordination.readWorker()
    },
    takeWorker: async (next, seen) => {
      await steps.before(actor)
      return store.coordination.takeWorker(next, seen)
    },
  })
  const worker = setStage({ share, wrap: storeOf('worker') })
  let runs = 0
  const dispatcher: Dispatcher = search.withoutLastLook
    ? { ...worker.dispatcher, run: async (run) => (++runs === 2 ? undefined : worker.dispatcher.run(run)) }
    : worker.dispatcher
  const turn = takeTurn({
    coordination: coordinationOf('worker'),
    dispatcher,
    clock,
    logger: silentLogger,
    observe: () => {},
    owner: 'worker',
    stopsAt: startAt + (search.stopsInMs ?? 270_000),
  })
  const senders = (Object.entries(rows) as [Actor, number][]).map(([actor, dueInMs]) => {
    const waker = setStage({ share, wrap: storeOf(actor) })
    const send = async () => {
      await steps.before(actor)
      await put([actor, dueInMs])
      const signal = new AbortController().signal
      return answerHint({ coordination: coordinationOf(actor), dispatcher: waker.dispatcher, clock, shard: 0, signal })
    }
    return { waker, answered: send() }
  })
  await steps.turn()
  for (const actor of order) await steps.take(actor)
  steps.setFree()
  await clock.advanceBy(6_000)
  const sent = [worker, ...senders.map(({ waker }) => waker)].flatMap((one) => one.sent)
  await clock.advanceBy(300_000)
  await Promise.all([turn, ...senders.map(({ answered }) => answered)])
  const expected = Object.entries(rows).map(([id, dueInMs]) => `${id} at ${dueInMs}`)
  const found = sent.map(({ id, at }) => `${id} at ${at - startAt}`)
  if (found.length > new Set(found).size) throw new Error(`sent twice: ${found.join(', ')}`)
  return expected.filter((one) => !found.includes(one))
}

const search = async (rows: Partial<Record<Actor, number>>, options: Search = {}) => {
  const missed: string[] = []
  let orders = 0
  for (const order of interleave({ worker: 5, first: 3, second: rows.second === undefined ? 0 : 3 })) {
    // Two rows are alike, so only the orders that begin with the first are tried.
    if (order.find((actor) => actor !== 'worker') !== 'first') continue
    orders++
    const rowsMissed = await missedIn(order, rows, options)
    if (rowsMissed.length > 0) missed.push(`${order.join(' ')}: ${rowsMissed.join(', ')}`)
  }
  return { orders, missed }
}

describe('a worker that leaves and wakers that are called', () => {
  test('miss no row between them, in any order of their steps', async () => {
    expect(await search({ first: 1_234 })).toEqual({ orders: 56, missed: [] })
  })

  test('miss none of two rows, in any order of their steps', async () => {
    expect(await search({ first: 1_234, second: 2_222 })).toEqual({ orders: 4_620, missed: [] })
  }, 120_000)

  test('miss no row when the worker is about to stop', async () => {
    expect(await search({ first: 1_234 }, { stopsInMs: 1_000 })).toEqual({ orders: 56, missed: [] })
    expect(await search({ first: 1_234 }, { stopsInMs: 3_000 })).toEqual({ orders: 56, missed: [] })
  })

  test('would miss rows without the last look, which this search finds', async () => {
    const { missed } = await search({ first: 1_234 }, { withoutLastLook: true })
    expect(missed.length).toBeGreaterThan(0)
  })
})
