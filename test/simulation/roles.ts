import { assembleBus, type Bus } from '../../lib/core/bus.js'
import { createDispatcher } from '../../lib/core/dispatch/dispatcher.js'
import { reasonOf } from '../../lib/core/errors.js'
import type { Ids } from '../../lib/core/ids.js'
import { silentLogger } from '../../lib/core/observation.js'
import { takeTurn } from '../../lib/core/worker.js'
import { countFailures, simulateDeadLetters } from './dead-letters.js'
import { createSimulatedReceiver, type KnownReceipt } from './handlers.js'
import { createHost, type Host, spawnProcess } from './host.js'
import { judgeEnded } from './judge-end.js'
import { type StoreBehind, simulatePersistence } from './persistence.js'
import type { SimulatedProcess } from './process.js'
import type { SimulatedQueue } from './queue.js'
import type { PlannedMessage, Scenario } from './scenario.js'
import { type SimulatedTopic, simulateTransport } from './transport.js'
import type { World } from './world.js'

/** Where the processes of a simulation run. */
export interface Site {
  readonly world: World
  readonly scenario: Scenario
  readonly store: StoreBehind
  readonly topic: SimulatedTopic
  readonly queues: readonly SimulatedQueue[]
  readonly ids: Ids
  readonly planned: ReadonlyMap<string, PlannedMessage>
  readonly receipts: KnownReceipt[]
}

const portsOf = ({ world, store, topic, queues, ids }: Site, process: SimulatedProcess) => ({
  persistence: simulatePersistence(world, process, store),
  transport: simulateTransport(world, process, topic),
  clock: process.clock,
  ids,
  logger: silentLogger,
  onEvent: countFailures(world, queues),
})

const receiversOf = ({ world, scenario, queues, planned, receipts }: Site, process: SimulatedProcess) =>
  queues.map((queue, index) => {
    const { redelivery, hasDeadLetters } = scenario
    const sends = index === 0
    const receiver = createSimulatedReceiver({
      ...{ world, process, queue: queue.name, sends, planned, receipts, redelivery },
    })
    const deadLetters = hasDeadLetters ? { deadLetters: simulateDeadLetters(world, process, receiver) } : {}
    return { receiver, source: { ...queue.sourceOf(process), ...deadLetters }, deadLetters }
  })

/** A started bus: sends, receives and dispatches. */
const runWorker = (site: Site) => (process: SimulatedProcess) => {
  const { dispatch } = site.scenario
  const bus = assembleBus({
    name: 'simulated',
    ...portsOf(site, process),
    receivers: receiversOf(site, process),
    dispatch,
  })
  void bus.start()
  return { bus, stop: () => bus.stop() }
}

/** A bus that sends, and the receivers of a function: the dispatching is done by turns. */
const runReceiver = (site: Site) => (process: SimulatedProcess) => {
  const bus: Bus = assembleBus({ name: 'simulated', ...portsOf(site, process), sendOnly: true })
  const stops = receiversOf(site, process).map(({ receiver, source, deadLetters }) =>
    source.start((records) => bus.handleRecords(records, receiver, deadLetters)),
  )
  return {
    bus,
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()))
      await bus.stop()
    },
  }
}

const runSender = (site: Site) => (process: SimulatedProcess) => {
  const bus = assembleBus({ name: 'simulated', ...portsOf(site, process), sendOnly: true })
  return { bus, stop: () => bus.stop() }
}

/** Starts what runs all the time. */
export const startHosts = (site: Site): readonly Host[] => {
  const { world, scenario } = site
  const run = scenario.mode === 'started' ? runWorker(site) : runReceiver(site)
  const workers = Array.from({ length: scenario.workers }, (_, index) => createHost(world, `worker-${index + 1}`, run))
  return [...workers, createHost(world, 'sender', runSender(site))]
}

/** A tick of the schedule comes a minute after the last one on average, and sometimes twice. */
const LONGEST_GAP_MS = 119_000
const TWICE = 0.2

/** Starts the schedule of the dispatcher: each tick is a process of its own. @returns what ends it */
export const startTurns = (site: Site): (() => void) => {
  const { world, scenario } = site
  const { clock, random, history } = world
  let count = 0
  let isEnded = false

  const turn = async (process: SimulatedProcess): Promise<void> => {
    const ports = portsOf(site, process)
    const dispatcher = createDispatcher({ ...ports, ...scenario.dispatch, observe: () => {} })
    try {
      const outcome = await takeTurn({
        dispatcher,
        coordination: ports.persistence.coordination ?? site.store.coordination,
        clock: process.clock,
        logger: silentLogger,
        observe: () => {},
        owner: process.name,
        stopsAt: process.clock.now() + scenario.turnMs,
        mode: scenario.turnMode,
      })
      history.trace(process.name, () => `ends: ${outcome}`)
    } catch (error) {
      history.trace(process.name, () => `fails: ${reasonOf(error)}`)
    }
    judgeEnded(world, process)
    process.crash()
  }

  const tick = (): void => {
    if (isEnded) return
    for (let times = random.chance(TWICE) ? 2 : 1; times > 0; times--) {
      const process = spawnProcess(world, `turn-${++count}`, () => {})
      history.trace(process.name, () => `starts, its clock ${process.skewMs} ms ahead`)
      void turn(process)
    }
    clock.wakeAt(clock.now() + random.integer(1_000, LONGEST_GAP_MS), tick)
  }
  tick()
  return () => {
    isEnded = true
  }
}
