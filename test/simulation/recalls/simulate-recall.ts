import { assembleBus } from '../../../lib/core/bus.js'
import { createDispatcher } from '../../../lib/core/dispatch/dispatcher.js'
import { isPostdateError, PostdateError } from '../../../lib/core/errors.js'
import { formatHandle } from '../../../lib/core/handle.js'
import type { Ids } from '../../../lib/core/ids.js'
import { defineCommand } from '../../../lib/core/message.js'
import { silentLogger } from '../../../lib/core/observation.js'
import type { DelayingPersistence, RecallOutcome } from '../../../lib/core/persistence.js'
import { memoryPersistence } from '../../../lib/memory/persistence.js'
import { createVirtualClock } from '../../../lib/testing/virtual-clock.js'
import { createProcess, type SimulatedProcess } from '../process.js'
import { createRandom } from '../random.js'
import { type Network, reachStore, reachTopic, wait } from './network.js'
import { createPoints, planRecalls, type RecallPlan } from './points.js'
import { createWatch } from './watch.js'

/** What a seed showed. */
export interface RecallSimulation {
  readonly violations: readonly string[]
  /** Each answer that a caller of the bus got, and what became of the message in the end. */
  readonly answers: readonly (readonly [answer: RecallOutcome, end: 'published' | 'dead' | 'no'])[]
  /** Where recalls were done. */
  readonly struck: readonly string[]
}

const STARTS_AT = Date.UTC(2030, 0, 1)
const BUS = 'simulated'
const Remind = defineCommand('simulation/remind', 1)<{ text: string }>()
/** Each clock is off by less than half of the margin, as everywhere. */
const MOST_SKEW_MS = 2_000
const ACTIVE_MS = 30_000
const LEASE_MS = 12_500
const PUBLISH_TIMEOUT_MS = 2_000
/** A lease, a margin, and what was given back; then all is delivered. */
const SETTLES_WITHIN_MS = 60_000
const MOST_TRIES = 3

const countedIds = (): Ids => {
  let tokens = 0
  return { messageId: () => 'message', token: () => (++tokens).toString(36) }
}

/** Runs one seed: one message, dispatchers that fail, and recalls at chosen moments. The same seed gives the same run. */
export const simulateRecall = async (
  seed: number,
  sabotage: (store: DelayingPersistence) => DelayingPersistence = (store) => store,
): Promise<RecallSimulation> => {
  const random = createRandom(`recall-${seed}`)
  const clock = createVirtualClock(STARTS_AT)
  const memory = memoryPersistence({ ids: countedIds() })
  const store = sabotage(memory)
  const watch = createWatch()
  const plans = planRecalls(random)
  const faultiness = random.pick([0, 0, 0.05, 0.15, 0.3])
  // Far enough from its instant, what was never stored is not-found.
  const dueAt = STARTS_AT + random.pick([random.integer(200, 3_000), random.integer(6_000, 15_000)])
  const handle = formatHandle({ bus: BUS, shard: 0, dueAt, rowId: 'message' })
  const answers: RecallOutcome[] = []
  const struck: string[] = []
  let isActive = true

  /** A process that may die, or stand still for longer than a lease, at one of its crossings. */
  const spawn = (name: string, isMortal: boolean): SimulatedProcess => {
    let left = isMortal && random.chance(0.5) ? random.integer(1, 30) : 0
    const ends = random.chance(0.5)
    const skewMs = random.integer(-MOST_SKEW_MS, MOST_SKEW_MS)
    const strike = (process: SimulatedProcess) => {
      if (!isActive || --left !== 0) return
      if (ends) process.crash()
      else process.pause(LEASE_MS + random.integer(0, 9_000))
    }
    return createProcess({ name, clock, skewMs, strike })
  }

  const recallOnce = async ({ isExact }: RecallPlan): Promise<void> => {
    const process = spawn('recaller', false)
    const persistence: DelayingPersistence = {
      ...memory,
      recallOutgoingMessage: async (address, now) => {
        if (!isExact) await wait(clock, random.integer(1, 30))
        const fate = !isExact && random.chance(faultiness) ? random.pick(['refused', 'lost'] as const) : 'good'
        const fail = (reason: string) =>
          new PostdateError('persistence.unavailable', { persistence: 'simulated', operation: 'recall', reason })
        if (fate === 'refused') throw fail('throttled')
        const outcome = await store.recallOutgoingMessage(address, now)
        watch.recalled(outcome, now)
        if (fate === 'lost') throw fail('timed out, and was done')
        if (!isExact) await wait(clock, random.integer(1, 30))
        return outcome
      },
    }
    const bus = assembleBus({
      name: BUS,
      transport: reachTopic(network, process),
      persistence,
      clock: process.clock,
      sendOnly: true,
      logger: silentLogger,
    })
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      try {
        answers.push((await bus.recall(handle)).outcome)
        return
      } catch (error) {
        if (!isPostdateError(error, 'persistence.unavailable')) throw error
      }
    }
  }

  const points = createPoints(async (point, nth) => {
    for (const plan of plans) {
      if (!('point' in plan.at) || plan.at.point !== point || plan.at.nth !== nth) continue
      struck.push(point)
      const done = recallOnce(plan)
      if (plan.isExact) await done
    }
  })
  const network: Network = {
    clock,
    random,
    points,
    watch,
    publishTimeoutMs: PUBLISH_TIMEOUT_MS,
    faultiness: () => (isActive ? faultiness : 0),
  }

  const stopping = new AbortController()
  const startDispatcher = (name: string, isMortal: boolean): void => {
    const process = spawn(name, isMortal)
    const dispatcher = createDispatcher({
      persistence: reachStore(network, process, store),
      transport: reachTopic(network, process),
      clock: process.clock,
      observe: () => {},
      logger: silentLogger,
      leaseMs: LEASE_MS,
      publishTimeoutMs: PUBLISH_TIMEOUT_MS,
      lookAheadMs: random.pick([0, 250, 1_000]),
    })
    void dispatcher.run({ signal: stopping.signal })
  }

  const send = async (): Promise<void> => {
    const process = spawn('sender', false)
    const bus = assembleBus({
      name: BUS,
      transport: reachTopic(network, process),
      persistence: reachStore(network, process, store),
      clock: { ...process.clock, now: () => STARTS_AT },
      sendOnly: true,
      logger: silentLogger,
    })
    const schedule = { deliverAt: new Date(dueAt), messageId: 'message' }
    const discard = random.chance(0.15) ? { discardAfter: random.integer(1, 3_000) } : {}
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      try {
        await bus.send(Remind({ text: 'pay' }), { ...schedule, ...discard })
        return
      } catch (error) {
        if (!isPostdateError(error, 'persistence.unavailable')) return
      }
    }
  }

  clock.wakeAt(STARTS_AT + 1, () => {
    void send()
    for (let index = random.pick([1, 2, 2]); index > 0; index--) startDispatcher(`dispatcher-${index}`, true)
    for (const plan of plans)
      if ('afterMs' in plan.at) clock.wakeAt(STARTS_AT + plan.at.afterMs, () => void recallOnce(plan))
  })
  await clock.advanceTo(STARTS_AT + ACTIVE_MS)
  isActive = false
  startDispatcher('last', false)
  const isSettled = async () => (await memory.measureBacklog(clock.now())).due === 0
  for (let waited = 0; waited < SETTLES_WITHIN_MS && !(await isSettled()); waited += 5_000) await clock.advanceBy(5_000)
  // What is still on its way arrives.
  await clock.advanceBy(12_000)
  stopping.abort()
  await clock.advanceBy(2_000)

  const dead = await memory.inspection.listDead(9)
  const end = watch.publishes() > 0 ? 'published' : dead.length > 0 ? 'dead' : 'no'
  const violations = [...watch.violations]
  if (!(await isSettled())) violations.push('it is still waiting')
  // What was delivered and stored again is two messages in one, of which a recall can only speak of the second.
  for (const answer of watch.wasStoredAgain() ? [] : answers) {
    if (answer === 'recalled' && end === 'published') violations.push('recalled, and published')
    if (answer === 'not-found' && end === 'published') violations.push('not-found, and published')
    // After its instant, nothing waits under the handle of what was never stored; a later recall may have withdrawn it.
    const isExcused = !watch.wasStored() || watch.recalls.some(({ outcome }) => outcome !== 'too-late')
    if (answer === 'too-late' && end === 'no' && !isExcused) violations.push('too-late, and neither published nor dead')
  }
  const told = watch.wasStoredAgain() ? [] : answers
  return { violations, answers: told.map((answer) => [answer, end] as const), struck }
}
