import { LEASE_MARGIN_MS } from '../../core/lease.js'
import type { Claim } from '../../core/persistence.js'
import { expectEqual } from './expectation.js'
import { DUE_AT, sampleMessage } from './message-samples.js'
import { type ContractCase, giveBack, LEASE_ENDS_AT, LEASE_MS, promise, type Subject } from './subject.js'

/** One way for a row to be: how it comes to be so, from when on it may be claimed, and what a recall answers at which instant. */
interface StateCase {
  readonly state: string
  /** Brings the one stored row into the state; answers the claim that holds it, if one does. */
  readonly enter: (subject: Subject) => Promise<Claim | undefined>
  /** `undefined`: never. */
  readonly claimableFrom: number | undefined
  readonly answers: readonly (readonly [at: number, answer: string])[]
}

const message = sampleMessage({ id: 'one' })
const NOT_BEFORE = DUE_AT + 7_000
const SECOND_LEASE_ENDS_AT = LEASE_ENDS_AT + LEASE_MS + LEASE_MARGIN_MS

const claimAt = (now: number) => (subject: Subject) => subject.claimOne(now)

const releaseAt = (now: number, published: 'no' | 'perhaps', notBefore: number) => async (subject: Subject) => {
  await subject.release(giveBack(await subject.claimOne(now), notBefore, { published }))
  return undefined
}

const inTurn =
  (...steps: readonly StateCase['enter'][]): StateCase['enter'] =>
  async (subject) => {
    let claim: Claim | undefined
    for (const step of steps) claim = await step(subject)
    return claim
  }

const leaseAnswers = (endsAt: number): StateCase['answers'] => [
  [endsAt - LEASE_MARGIN_MS - LEASE_MS, 'too-late'],
  [endsAt - LEASE_MARGIN_MS, 'too-late'],
  [endsAt - 1, 'too-late'],
  [endsAt, 'possibly-delivered'],
]

const always = (answer: string, ...instants: readonly number[]): StateCase['answers'] =>
  instants.map((at) => [at, answer] as const)

/** The table of the lease register, row by row, and the ways into each state. */
const states: readonly StateCase[] = [
  {
    state: 'never claimed',
    enter: async () => undefined,
    claimableFrom: DUE_AT,
    answers: always('recalled', DUE_AT - 86_400_000, DUE_AT - 1, DUE_AT, DUE_AT + 86_400_000),
  },
  {
    state: 'leased',
    enter: claimAt(DUE_AT),
    claimableFrom: LEASE_ENDS_AT,
    answers: leaseAnswers(LEASE_ENDS_AT),
  },
  {
    state: 'leased again after a lease that ended',
    enter: inTurn(claimAt(DUE_AT), claimAt(LEASE_ENDS_AT)),
    claimableFrom: SECOND_LEASE_ENDS_AT,
    answers: leaseAnswers(SECOND_LEASE_ENDS_AT),
  },
  {
    state: 'leased again after it was perhaps published',
    enter: inTurn(releaseAt(DUE_AT, 'perhaps', DUE_AT), claimAt(DUE_AT)),
    claimableFrom: LEASE_ENDS_AT,
    answers: leaseAnswers(LEASE_ENDS_AT),
  },
  {
    state: 'given back, surely not published',
    enter: releaseAt(DUE_AT, 'no', NOT_BEFORE),
    claimableFrom: NOT_BEFORE,
    answers: always('recalled', DUE_AT, NOT_BEFORE - 1, NOT_BEFORE),
  },
  {
    state: 'given back twice, surely not published',
    enter: inTurn(releaseAt(DUE_AT, 'no', DUE_AT), releaseAt(DUE_AT, 'no', NOT_BEFORE)),
    claimableFrom: NOT_BEFORE,
    answers: always('recalled', DUE_AT, NOT_BEFORE),
  },
  {
    state: 'given back, perhaps published',
    enter: releaseAt(DUE_AT, 'perhaps', NOT_BEFORE),
    claimableFrom: NOT_BEFORE,
    answers: always('possibly-delivered', DUE_AT, NOT_BEFORE - 1, NOT_BEFORE),
  },
  {
    state: 'given back unpublished, after it was perhaps published under an earlier claim',
    enter: inTurn(releaseAt(DUE_AT, 'perhaps', DUE_AT), releaseAt(DUE_AT, 'no', NOT_BEFORE)),
    claimableFrom: NOT_BEFORE,
    answers: always('possibly-delivered', DUE_AT, NOT_BEFORE),
  },
  {
    state: 'given back unpublished, long after it was perhaps published',
    enter: inTurn(
      releaseAt(DUE_AT, 'perhaps', DUE_AT),
      releaseAt(DUE_AT, 'no', DUE_AT),
      releaseAt(DUE_AT, 'no', NOT_BEFORE),
    ),
    claimableFrom: NOT_BEFORE,
    answers: always('possibly-delivered', DUE_AT, NOT_BEFORE),
  },
  {
    state: 'given back unpublished, after an earlier claim had ended without a word',
    enter: inTurn(claimAt(DUE_AT), releaseAt(LEASE_ENDS_AT, 'no', LEASE_ENDS_AT + 9)),
    claimableFrom: LEASE_ENDS_AT + 9,
    answers: always('possibly-delivered', LEASE_ENDS_AT, LEASE_ENDS_AT + 9),
  },
  {
    state: 'recalled',
    enter: async (subject) => {
      await subject.recall(message, DUE_AT - 1)
      return undefined
    },
    claimableFrom: undefined,
    answers: always('already-recalled', DUE_AT - 1, DUE_AT),
  },
]

const enter = async (subject: Subject, one: StateCase): Promise<Claim | undefined> => {
  await subject.storeNew(message)
  return one.enter(subject)
}

const claimableCase = (one: StateCase): ContractCase => {
  const { claimableFrom } = one
  if (claimableFrom === undefined) {
    return promise(`a row that is ${one.state} is never claimed`, async (subject) => {
      await enter(subject, one)
      for (const now of [DUE_AT, LEASE_ENDS_AT, DUE_AT + 864e5])
        expectEqual(`at ${now}`, await subject.claimIds(now), [])
    })
  }
  return promise(
    `a row that is ${one.state} is claimed from its instant on, not a millisecond before`,
    async (subject) => {
      await enter(subject, one)
      const early = await subject.claim(claimableFrom - 1)
      expectEqual('one millisecond before', [early.claims, early.nextDueAt], [[], claimableFrom])
      expectEqual('at the instant', await subject.claimIds(claimableFrom), ['one'])
    },
  )
}

const recallCase = (one: StateCase, at: number, answer: string): ContractCase => {
  const name = `the recall of a row that is ${one.state}, ${at - DUE_AT} ms after it was due: ${answer}`
  return promise(name, async (subject) => {
    const claim = await enter(subject, one)
    expectEqual('the answer', await subject.recall(message, at), answer)
    if (answer === 'too-late') {
      expectEqual('the same question again', await subject.recall(message, at), 'too-late')
      expectEqual('the holder settles', claim && (await subject.settle(claim)), ['settled'])
      return
    }
    expectEqual('a second recall', await subject.recall(message, at), 'already-recalled')
    expectEqual('a repeat of the send', await subject.store(message), ['recalled'])
    expectEqual('claimable a day later', await subject.claimIds(DUE_AT + 86_400_000), [])
  })
}

/** What each state of the lease register promises, at its boundaries. */
export const leaseStateCases: readonly ContractCase[] = states.flatMap((one) => [
  claimableCase(one),
  ...one.answers.map(([at, answer]) => recallCase(one, at, answer)),
])
