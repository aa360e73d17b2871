import type { Claim, OutgoingMessage } from '../../core/persistence.js'
import { memoryPersistence } from '../../memory/persistence.js'
import { expectEqual, expectTrue } from './expectation.js'
import { bodyOfBytes, DUE_AT, sampleMessage } from './message-samples.js'
import {
  type ContractCase,
  createSubject,
  giveBack,
  idsOf,
  LEASE_MS,
  promise,
  promiseOf,
  type Subject,
} from './subject.js'

const ROWS = 12
const STEPS = 100

/** Numbers from 0 up to a bound, the same for the same seed (mulberry32). */
const seededChoice = (seed: number) => {
  let state = seed
  return (bound: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}

/** One history, told to the persistence under test and to the one in memory, which must answer alike. */
interface History {
  readonly tested: Subject
  readonly model: Subject
  readonly choose: (bound: number) => number
  readonly messages: readonly OutgoingMessage[]
  /** Every claim so far, as both made it; most are stale by now. */
  readonly claims: { readonly tested: Claim; readonly model: Claim }[]
  /** Rows that a recall withdrew. After the due instant, when their remains go is each store's own affair. */
  readonly recalled: Set<string>
  /** Rows that were moved, likewise. */
  readonly moved: Set<string>
  now: number
}

type Step = (history: History) => Promise<void>

const pick = <T>(history: History, items: readonly T[]): T | undefined => items[history.choose(items.length)]

/** Which of the reasons a claim does not hold its row any more depends on when remains are removed. */
const settledOrNot = (outcomes: readonly string[]) => outcomes.map((outcome) => outcome === 'settled')

const storeStep: Step = async (history) => {
  const message = pick(history, history.messages)
  if (message === undefined || history.recalled.has(message.rowId) || history.moved.has(message.rowId)) return
  const sent = history.choose(6) === 0 ? { ...message, envelope: { ...message.envelope, body: '"other"' } } : message
  expectEqual(`store ${message.rowId}`, await history.tested.store(sent), await history.model.store(sent))
}

const claimStep: Step = async (history) => {
  const { tested, model, choose, now } = history
  const options = { limit: 1 + choose(5), dueBefore: now + choose(2) * 1_000 }
  const [found, expected] = [await tested.claim(now, options), await model.claim(now, options)]
  expectEqual('claim', idsOf(found.claims), idsOf(expected.claims))
  for (const [index, claim] of found.claims.entries()) {
    const twin = expected.claims[index]
    if (twin === undefined) continue
    history.claims.push({ tested: claim, model: twin })
    const told = ({ envelope, claims, failures, leaseUntil }: Claim) => ({ envelope, claims, failures, leaseUntil })
    expectEqual(`the claim of ${claim.rowId}`, told(claim), told(twin))
  }
  if (expected.more) return expectTrue('there is more', found.more)
  const isInTime =
    expected.nextDueAt === undefined || (found.nextDueAt ?? Number.POSITIVE_INFINITY) <= expected.nextDueAt
  expectTrue(`the next look, ${found.nextDueAt}, is not later than ${expected.nextDueAt}`, found.more || isInTime)
}

const settleStep: Step = async (history) => {
  const pair = pick(history, history.claims)
  if (pair === undefined) return
  const [found, expected] = [await history.tested.settle(pair.tested), await history.model.settle(pair.model)]
  expectEqual(`settle ${pair.tested.rowId}`, settledOrNot(found), settledOrNot(expected))
}

const releaseStep: Step = async (history) => {
  const { choose, now } = history
  const pair = pick(history, history.claims)
  if (pair === undefined) return
  const options = {
    published: choose(2) === 0 ? ('no' as const) : ('perhaps' as const),
    ...(choose(2) === 0 && { failures: choose(5) }),
    ...(choose(5) === 0 && { dead: { reason: 'refused', diedAt: now } }),
  }
  const notBefore = now + choose(3) * 700
  const found = await history.tested.release(giveBack(pair.tested, notBefore, options))
  const expected = await history.model.release(giveBack(pair.model, notBefore, options))
  expectEqual(`release ${pair.tested.rowId}`, settledOrNot(found), settledOrNot(expected))
}

const recallStep: Step = async (history) => {
  const { recalled, now } = history
  const message = pick(history, history.messages)
  if (message === undefined || (recalled.has(message.rowId) && now >= message.dueAt)) return
  const [found, expected] = [await history.tested.recall(message, now), await history.model.recall(message, now)]
  expectEqual(`recall ${message.rowId}`, found, expected)
  if (expected !== 'too-late') recalled.add(message.rowId)
}

/** Moves a row by the address that it was stored under, wherever it is by now. */
const rescheduleStep: Step = async (history) => {
  const { recalled, moved, now, choose, tested, model } = history
  const message = pick(history, history.messages)
  if (message === undefined || recalled.has(message.rowId)) return
  if (model.persistence.rescheduleOutgoingMessage === undefined) return
  const dueAt = now + choose(8) * 2_500
  const expected = await model.reschedule(message, dueAt, now)
  expectEqual(`move ${message.rowId} to ${dueAt}`, await tested.reschedule(message, dueAt, now), expected)
  if ('address' in expected && expected.address.dueAt !== message.dueAt) moved.add(message.rowId)
}

const waitStep: Step = async (history) => {
  history.now += [1, 400, 2_000, LEASE_MS / 2, LEASE_MS][history.choose(5)] ?? 1
}

const STEP_KINDS: readonly Step[] = [
  ...[storeStep, storeStep, claimStep, claimStep, claimStep],
  ...[settleStep, releaseStep, releaseStep, recallStep, waitStep],
]

/** Those of a store that reschedules. */
const MOVING_KINDS: readonly Step[] = [...STEP_KINDS, rescheduleStep, rescheduleStep]

const runHistory = async (tested: Subject, seed: number, kinds: readonly Step[]): Promise<void> => {
  const choose = seededChoice(seed)
  const messages = Array.from({ length: ROWS }, (_, index) =>
    sampleMessage({
      id: `row-${index}`,
      dueAt: DUE_AT + index * 5_000,
      body: bodyOfBytes(index % 4 === 0 ? 4_000 : 200),
    }),
  )
  const model = createSubject(memoryPersistence())
  const empty = { claims: [], recalled: new Set<string>(), moved: new Set<string>() }
  const history: History = { tested, model, choose, messages, ...empty, now: DUE_AT - 3_000 }
  for (let step = 0; step < STEPS; step++) {
    try {
      await pick(history, kinds)?.(history)
    } catch (error) {
      throw new Error(`seed ${seed}, step ${step}, ${history.now - DUE_AT} ms after the first due instant`, {
        cause: error,
      })
    }
  }
  const end = history.now + 3_600_000
  expectEqual('the backlog', await tested.persistence.measureBacklog(end), await model.persistence.measureBacklog(end))
  expectEqual('what is left at the end', await tested.claimIds(end), await model.claimIds(end))
}

const history = (seed: number) =>
  promise(`a long history of every operation, stale claims included, goes as in memory (seed ${seed})`, (subject) =>
    runHistory(subject, seed, STEP_KINDS),
  )

const movingHistory = (seed: number) =>
  promiseOf('reschedule', `a long history in which rows are moved too goes as in memory (seed ${seed})`, (subject) =>
    runHistory(subject, seed, MOVING_KINDS),
  )

/** What no case of its own shows: that any order of operations keeps the promises. */
export const historyCases: readonly ContractCase[] = [...[1, 2, 3].map(history), ...[4, 5, 6].map(movingHistory)]
