import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../lib/core/observation.js'
import type { Coordination, WorkerLease } from '../../lib/core/persistence.js'
import { answerHint, takeTurn, type WorkerTurn } from '../../lib/core/worker.js'
import { refusalOf } from './bus-stage.js'
import { idsUpTo, publishAll, type StageOptions, setStage } from './dispatch/stage.js'

/** A worker's place: a dispatcher on a store, and a lease whose writes are counted. */
const setWorkplace = (options: StageOptions = {}) => {
  const stage = setStage(options)
  const { clock, store, dispatcher, events } = stage
  const writes: WorkerLease[] = []
  const coordination: Coordination = {
    ...store.coordination,
    takeWorker: (next, seen) => {
      writes.push(next)
      return store.coordination.takeWorker(next, seen)
    },
  }
  const observe: WorkerTurn['observe'] = (event) => void events.push({ ...event, at: clock.now() })
  const turnOf = (owner: string, lastsMs: number, part: Partial<WorkerTurn> = {}): WorkerTurn => {
    const stopsAt = clock.now() + lastsMs
    return { coordination, dispatcher, clock, logger: silentLogger, observe, owner, stopsAt, ...part }
  }
  const holdLease = (lease: Partial<WorkerLease>) =>
    store.coordination.takeWorker(
      { owner: 'other', epoch: 7, leaseUntil: clock.now() + 6_000, stopsAt: clock.now() + 270_000, ...lease },
      undefined,
    )
  return { ...stage, coordination, writes, turnOf, holdLease }
}

describe('a newcomer', () => {
  test('that finds a live owner with time left leaves without a write', async () => {
    const { clock, turnOf, holdLease, writes, looks } = setWorkplace()
    await holdLease({ stopsAt: clock.now() + 130_001 })
    expect(await takeTurn(turnOf('new', 270_000))).toBe('declined')
    expect(writes).toEqual([])
    expect(looks).toEqual([])
    expect(clock.pendingTimers()).toBe(0)
  })

  test.each<[string, Partial<WorkerLease>]>([
    ['stops before two more ticks', { stopsAt: Date.UTC(2030, 0, 1) + 130_000 }],
    ['let its lease run out', { leaseUntil: Date.UTC(2030, 0, 1) }],
    ['gave its lease back', { leaseUntil: 0 }],
    ['has a lease that its clock, an hour ahead, wrote', { leaseUntil: Date.UTC(2030, 0, 1) + 3_606_000 }],
    ['is itself, called again', { owner: 'new' }],
  ])('takes over with the next epoch when the owner %s', async (_why, lease) => {
    const { clock, turnOf, holdLease, writes, eventsOf } = setWorkplace()
    await holdLease(lease)
    expect(await clock.runUntil(takeTurn(turnOf('new', 270_000)))).toBe('idle')
    expect(writes[0]).toMatchObject({ owner: 'new', epoch: 8, leaseUntil: clock.now() + 6_000 })
    expect(eventsOf('worker-started')).toMatchObject([{ owner: 'new', epoch: 8 }])
  })

  test('of two at once is one', async () => {
    const { clock, store, turnOf, put, looks } = setWorkplace()
    const other = setStage({ share: { clock, store } })
    await put(['near', 20_000])
    const turns = [
      takeTurn(turnOf('one', 270_000)),
      takeTurn({ ...turnOf('two', 270_000), dispatcher: other.dispatcher }),
    ]
    await clock.advanceBy(40_000)
    expect((await Promise.all(turns)).sort()).toEqual(['declined', 'idle'])
    expect(Math.min(looks.length, other.looks.length)).toBe(0)
  })

  test('that can not read the lease says so, and leaves nothing running', async () => {
    const { clock, coordination, turnOf } = setWorkplace()
    const readWorker = async () => {
      throw new Error('throttled')
    }
    expect(
      await refusalOf(takeTurn(turnOf('new', 270_000, { coordination: { ...coordination, readWorker } }))),
    ).toMatchObject({
      message: 'throttled',
    })
    expect(clock.pendingTimers()).toBe(0)
  })
})

describe('a worker', () => {
  test('renews its lease every two seconds, stays while anything is due within 130 s, and gives it back', async () => {
    const { clock, startAt, put, turnOf, writes, sent, store, eventsOf } = setWorkplace()
    await put(['a', 9_999], ['far', 500_000])
    expect(await clock.runUntil(takeTurn(turnOf('me', 270_000)))).toBe('idle')
    const renewals = writes.slice(1, -1).map(({ leaseUntil }) => leaseUntil - startAt)
    expect(renewals.slice(0, 4)).toEqual([8_000, 10_000, 12_000, 14_000])
    expect(writes.at(-1)).toMatchObject({ owner: 'me', epoch: 1, leaseUntil: 0 })
    expect(await store.coordination.readWorker()).toMatchObject({ owner: 'me', leaseUntil: 0 })
    expect(sent.map(({ at }) => at - startAt)).toEqual([9_999])
    expect(eventsOf('worker-left')).toHaveLength(1)
    expect(clock.pendingTimers()).toBe(0)
  })

  test('in minute mode drains what is due and leaves', async () => {
    const { clock, startAt, put, turnOf, sent } = setWorkplace()
    await put(['a', 0], ['b', -5], ['soon', 30_000])
    expect(await clock.runUntil(takeTurn(turnOf('me', 270_000, { mode: 'minute' })))).toBe('idle')
    expect(sent.map(({ id }) => id).sort()).toEqual(['a', 'b'])
    expect(clock.now()).toBe(startAt)
    expect(clock.pendingTimers()).toBe(0)
  })

  test('stops at its time, and what it could not publish is free for others at once', async () => {
    const { clock, startAt, put, turnOf, sent, store } = setWorkplace()
    await put(...idsUpTo(10).map((id, index) => [id, index * 10_000 + 500] as const))
    expect(await clock.runUntil(takeTurn(turnOf('me', 30_000)))).toBe('out-of-time')
    expect(clock.now() - startAt).toBeLessThanOrEqual(31_000)
    expect(sent.length).toBeGreaterThanOrEqual(3)
    const dueBefore = startAt + 200_000
    const { claims } = await store.claimDueOutgoingMessages({ now: clock.now(), dueBefore, limit: 99, leaseMs: 1 })
    expect(claims.length + sent.length).toBe(10)
    expect(clock.pendingTimers()).toBe(0)
  })

  test('that is relieved drains, and leaves the lease to its successor; nothing is early, late or twice', async () => {
    const { clock, startAt, store, put, turnOf, sent, eventsOf } = setWorkplace()
    const successor = setStage({ share: { clock, store } })
    await put(...idsUpTo(200).map((id, index) => [id, index * 1_000 + 250] as const))
    const first = takeTurn(turnOf('first', 120_000))
    await clock.advanceBy(60_000)
    const second = takeTurn({ ...turnOf('second', 270_000), dispatcher: successor.dispatcher })
    await clock.advanceBy(150_000)
    expect(await first).toBe('relieved')
    expect(await clock.runUntil(second)).toBe('idle')
    expect(eventsOf('worker-relieved')).toMatchObject([{ owner: 'first', epoch: 1 }])
    const all = [...sent, ...successor.sent]
    expect(all).toHaveLength(200)
    expect(new Set(all.map(({ id }) => id)).size).toBe(200)
    expect(all.filter(({ at, dueAt }) => at !== dueAt)).toEqual([])
    expect(sent.length).toBeGreaterThan(50)
    expect(startAt + 63_000).toBeGreaterThan(Math.max(...sent.map(({ at }) => at)))
    expect(clock.pendingTimers()).toBe(0)
  })

  test('goes on when renewals fail, and knows its own renewal whose answer was lost', async () => {
    const { clock, startAt, put, coordination, turnOf, sent, eventsOf } = setWorkplace()
    await put(['a', 20_000])
    let renewals = 0
    const takeWorker: Coordination['takeWorker'] = async (next, seen) => {
      const took = await coordination.takeWorker(next, seen)
      if (++renewals === 3) throw new Error('the answer was lost')
      if (renewals === 5) return false
      return took
    }
    expect(
      await clock.runUntil(takeTurn(turnOf('me', 270_000, { coordination: { ...coordination, takeWorker } }))),
    ).toBe('idle')
    expect(sent.map(({ at }) => at - startAt)).toEqual([20_000])
    expect(eventsOf('worker-relieved')).toEqual([])
  })

  test('leaves without an error when its lease can not be given back', async () => {
    const { clock, coordination, turnOf } = setWorkplace()
    const takeWorker: Coordination['takeWorker'] = async (next, seen) => {
      if (next.leaseUntil === 0) throw new Error('throttled')
      return coordination.takeWorker(next, seen)
    }
    const warnings: string[] = []
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
    const turn = turnOf('me', 270_000, { coordination: { ...coordination, takeWorker }, logger })
    expect(await clock.runUntil(takeTurn(turn))).toBe('idle')
    expect(warnings).toHaveLength(1)
    expect(clock.pendingTimers()).toBe(0)
  })

  test('whose dispatcher fails gives its lease back, and leaves no timer', async () => {
    const { clock, turnOf, writes, dispatcher } = setWorkplace()
    const run = async () => {
      throw new Error('a bug')
    }
    const turn = turnOf('me', 270_000, { dispatcher: { ...dispatcher, run } })
    expect(await clock.runUntil(refusalOf(takeTurn(turn)))).toMatchObject({ message: 'a bug' })
    expect(writes.at(-1)?.leaseUntil).toBe(0)
    expect(clock.pendingTimers()).toBe(0)
  })
})

describe('a wake hint', () => {
  const answer = ({ coordination, dispatcher, clock }: ReturnType<typeof setWorkplace>, shard = 0) =>
    clock.runUntil(answerHint({ coordination, dispatcher, clock, shard, signal: new AbortController().signal }))

  test('is left to a worker that has renewed its lease lately', async () => {
    const workplace = setWorkplace()
    await workplace.holdLease({})
    expect(await answer(workplace)).toBe('left-to-worker')
    await workplace.clock.advanceBy(2_999)
    expect(await answer(workplace)).toBe('left-to-worker')
    expect(workplace.looks).toEqual([])
    expect(workplace.writes).toEqual([])
  })

  test.each<[string, Partial<WorkerLease>, number]>([
    ['there is none', { leaseUntil: 0 }, 0],
    ['its worker’s clock was an hour ahead', { leaseUntil: Date.UTC(2030, 0, 1) + 3_606_000 }, 0],
    ['its worker missed two renewals', {}, 3_000],
    ['its worker stops before the row is due', { stopsAt: Date.UTC(2030, 0, 1) + 5_000 }, 0],
  ])('sweeps its shard at the exact instant when %s, and no other', async (_why, lease, laterMs) => {
    const workplace = setWorkplace({ shards: 2 })
    const { clock, startAt, put, holdLease, sent, looks } = workplace
    await holdLease(lease)
    await clock.advanceBy(laterMs)
    await put(
      ['mine', laterMs + 2_345, { shard: 1 }],
      ['other shard', laterMs + 100],
      ['later', laterMs + 20_000, { shard: 1 }],
    )
    expect(await answer(workplace, 1)).toBe('swept')
    expect(sent.map(({ id, at }) => [id, at - startAt - laterMs])).toEqual([['mine', 2_345]])
    expect(looks.every(({ request }) => request.shards?.join() === '1')).toBe(true)
    expect(clock.pendingTimers()).toBe(0)
  })

  test('without any worker ever sweeps', async () => {
    const workplace = setWorkplace()
    await workplace.put(['a', 500])
    expect(await answer(workplace)).toBe('swept')
    expect(workplace.sent).toHaveLength(1)
  })

  test('is over once what is near is settled, though the topic is slow', async () => {
    const workplace = setWorkplace({
      answer: async (batch, nth) => {
        await new Promise<void>((resolve) => void workplace.clock.wakeAt(workplace.clock.now() + 900, resolve))
        return publishAll(batch, nth)
      },
    })
    const { clock, startAt, put } = workplace
    await put(['a', 1_500])
    await answer(workplace)
    expect(clock.now() - startAt).toBeLessThanOrEqual(3_500)
    expect(clock.pendingTimers()).toBe(0)
  })
})
