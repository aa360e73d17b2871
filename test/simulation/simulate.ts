import type { Ids } from '../../lib/core/ids.js'
import { LEASE_MARGIN_MS } from '../../lib/core/lease.js'
import type { DelayingPersistence } from '../../lib/core/persistence.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'
import { createFaults, type FaultKind } from './faults.js'
import type { KnownReceipt } from './handlers.js'
import { createHistory, type History, type Violation } from './history.js'
import type { Host } from './host.js'
import { isQuiet, judgeEnd, judgeStuck } from './judge-end.js'
import { judgeAcknowledged } from './judge-receiving.js'
import { createSimulatedQueue } from './queue.js'
import { createRandom } from './random.js'
import { type Site, startHosts, startTurns } from './roles.js'
import { messagesOf, planScenario } from './scenario.js'
import { type Errand, startSenders } from './senders.js'
import { createTrace, noTrace } from './trace.js'
import { watchRecall } from './watch-recall.js'
import { watchStore } from './watch-store.js'
import { watchTopic } from './watch-topic.js'
import type { World } from './world.js'

/** How to run a seed. */
export interface SimulationOptions {
  readonly seed: number
  /** Keep a trace. @default false */
  readonly isTraced?: boolean
  /** Breaks the store on purpose, to see that it is found out. @default as it is */
  readonly sabotage?: (store: DelayingPersistence) => DelayingPersistence
}

/** What a seed showed. */
export interface SimulationResult {
  readonly seed: number
  readonly violations: readonly Violation[]
  readonly faults: ReadonlySet<FaultKind>
  readonly messages: number
  readonly publishes: number
  readonly virtualMs: number
  readonly trace: readonly string[]
}

/** 2030-01-01; it means nothing. */
const STARTS_AT = Date.UTC(2030, 0, 1)
const STEP_MS = 1_000
/** How long after the last fault everything must be delivered: leases run out, probes come, handlers send on. */
const SETTLES_WITHIN_MS = 400_000
/** What a row waits for that was refused four times. */
const REFUSED_WAIT_MS = 800_000
/** Two gaps between ticks. */
const TURNS_WAIT_MS = 240_000

const countedIds = (): Ids => {
  let messages = 0
  let tokens = 0
  return { messageId: () => `m-${++messages}`, token: () => (++tokens).toString(36) }
}

const countPublishes = ({ messages }: History): number => {
  let count = 0
  for (const { immediate, rows } of messages.values()) {
    count += immediate.length
    for (const { lives } of rows) for (const { publishes } of lives) count += publishes.length
  }
  return count
}

/** Lets time pass until nothing waits, or the limit is reached. */
const runUntilQuiet = async (site: Site, hosts: readonly Host[], errands: readonly Errand[]): Promise<void> => {
  const { world, scenario, queues } = site
  const { clock, history, faults } = world
  const isRefusing =
    faults.has('refused-for-good') ||
    faults.has('refused-twice') ||
    faults.has('request-refused') ||
    faults.has('request-poisoned')
  const turnsMs = scenario.mode === 'turns' ? TURNS_WAIT_MS : 0
  const limitAt = clock.now() + SETTLES_WITHIN_MS + turnsMs + (isRefusing ? REFUSED_WAIT_MS + 2 * turnsMs : 0)
  const isDone = () =>
    world.late === 0 &&
    hosts.every((host) => host.process().isRunning()) &&
    errands.every(({ process, isDone: isEnded }) => isEnded || !process.isAlive()) &&
    isQuiet(history, queues)
  while (!isDone() && clock.now() < limitAt) await clock.advanceBy(STEP_MS)
  judgeStuck(history, queues)
}

/** Runs one seed: the same seed gives the same run, event by event. */
export const simulate = async ({ seed, isTraced, sabotage }: SimulationOptions): Promise<SimulationResult> => {
  const random = createRandom(`postdate-${seed}`)
  const clock = createVirtualClock(STARTS_AT)
  const traced = createTrace(clock.now, STARTS_AT)
  const trace = isTraced ? traced.trace : noTrace
  const history = createHistory(clock.now, trace)
  const faults = createFaults({ random, now: clock.now, trace })
  const scenario = planScenario(random, faults)
  const { dispatch, topicDown, activeMs, usualMs } = scenario
  const planned = messagesOf(scenario)
  const longPauseMs = dispatch.leaseMs + LEASE_MARGIN_MS
  const usefulMs = dispatch.leaseMs - LEASE_MARGIN_MS - dispatch.publishTimeoutMs
  const { publishTimeoutMs } = dispatch
  const world: World = {
    clock,
    random: random.fork('world'),
    faults,
    history,
    trace,
    usualMs,
    publishTimeoutMs,
    usefulMs,
    longPauseMs,
    late: 0,
  }

  const memory = memoryPersistence({ ids: countedIds(), shards: scenario.shards })
  const inner = sabotage?.(memory) ?? memory
  const receipts: KnownReceipt[] = []
  const queues = Array.from({ length: scenario.queues }, (_, index) =>
    createSimulatedQueue(world, `queue-${index + 1}`, (record) => {
      judgeAcknowledged(history, record, `queue-${index + 1}`)
    }),
  )
  const isDown = () => {
    const atMs = clock.now() - STARTS_AT
    return topicDown !== undefined && !faults.isCeased() && topicDown.fromMs <= atMs && atMs < topicDown.untilMs
  }
  const site: Site = {
    world,
    scenario,
    store: {
      store: watchStore(inner, history),
      recall: watchRecall(inner, history),
      coordination: memory.coordination,
      inner,
    },
    topic: {
      watched: watchTopic(history, publishTimeoutMs),
      queues,
      isDown,
      refusalOf: (number) => planned.get(number)?.refusal,
    },
    queues,
    ids: countedIds(),
    planned,
    receipts,
  }

  // A clock that stands still fires what is due behind our back: all of it begins with the first timer of its first move.
  const begun: { hosts: readonly Host[]; errands: readonly Errand[]; endTurns: () => void } = {
    hosts: [],
    errands: [],
    endTurns: () => {},
  }
  clock.wakeAt(STARTS_AT + 1, () => {
    begun.hosts = startHosts(site)
    if (scenario.mode === 'turns') begun.endTurns = startTurns(site)
    begun.errands = startSenders({ world, scenario, hosts: begun.hosts, receipts })
    if (topicDown !== undefined) clock.wakeAt(STARTS_AT + topicDown.fromMs, () => faults.keep('topic-down'))
    for (const atMs of scenario.stops)
      clock.wakeAt(STARTS_AT + atMs, () => {
        const host = world.random.pick(begun.hosts)
        if (host.process().isRunning()) void host.stop(world.random.integer(1, 5_000))
      })
  })
  await clock.advanceTo(STARTS_AT + activeMs)
  faults.cease()
  trace('world', () => 'from now on nothing fails')
  await runUntilQuiet(site, begun.hosts, begun.errands)
  begun.endTurns()
  await clock.runUntil(Promise.all(begun.hosts.map((host) => host.stop())), { withinMs: 120_000 })
  judgeEnd({ history, faults, queues, dead: await memory.inspection.listDead(1_000), planned, scenario })

  return {
    seed,
    violations: history.violations,
    faults: new Set(faults.log.map(({ kind }) => kind)),
    messages: planned.size,
    publishes: countPublishes(history),
    virtualMs: clock.now() - STARTS_AT,
    trace: traced.lines,
  }
}
