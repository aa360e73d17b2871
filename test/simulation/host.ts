import type { Bus } from '../../lib/core/bus.js'
import type { FaultKind } from './faults.js'
import { judgeEnded } from './judge-end.js'
import { type Crossing, createProcess, type Mishap, type SimulatedProcess } from './process.js'
import { MOST_SKEW_MS, type World } from './world.js'

/** What runs in a process, from outside. */
export interface Running {
  readonly bus: Bus
  /** Asks it to end; resolves when it has. */
  stop(): Promise<void>
}

/** A place where one process runs at a time; when it dies, another takes its place. */
export interface Host {
  readonly name: string
  /** The process that runs here now; a dead one until the next has started. */
  process(): SimulatedProcess
  /** Its bus. */
  bus(): Bus
  /** Stops the process as a deployment does; resolves when it has ended. Another starts `thenAfterMs` later, if given. */
  stop(thenAfterMs?: number): Promise<void>
}

/** What strikes a process, at which crossing, and after how many. */
interface Fate {
  readonly kind: FaultKind
  readonly crossing: Crossing
  left: number
}

const CRASHES = [
  ['crash-before-request', 'request'],
  ['crash-before-answer', 'answer'],
  ['crash-asleep', 'timer'],
] as const
const RESTART_WITHIN_MS = 15_000
const BRIEFLY_MS = 12_000

const drawFates = (world: World): readonly Fate[] => {
  const { random, faults } = world
  const fates: Fate[] = []
  for (const [kind, crossing] of CRASHES)
    if (faults.has(kind) && random.chance(0.6)) fates.push({ kind, crossing, left: random.integer(1, 60) })
  for (const kind of ['pause-past-lease', 'pause-briefly'] as const) {
    const crossing = random.pick(['request', 'request', 'answer', 'timer'] as const)
    if (faults.has(kind) && random.chance(0.6)) fates.push({ kind, crossing, left: random.integer(1, 60) })
  }
  return fates
}

/** A process whose clock is off and whose fate is drawn. `died` is told when a crash has ended it. */
export const spawnProcess = (
  world: World,
  name: string,
  died: (process: SimulatedProcess) => void,
): SimulatedProcess => {
  const { random, faults, clock } = world
  const fates = drawFates(world)
  const skewMs = faults.has('clock-skew') ? random.integer(-MOST_SKEW_MS, MOST_SKEW_MS) : 0
  if (skewMs !== 0) faults.keep('clock-skew', { process: name })

  const strike: Mishap = (process, crossing) => {
    if (faults.isCeased()) return
    const fate = fates.find((one) => one.crossing === crossing && --one.left === 0)
    if (fate === undefined) return
    faults.keep(fate.kind, { process: name })
    if (fate.kind === 'pause-past-lease') process.pause(world.longPauseMs + random.integer(0, 10_000))
    else if (fate.kind === 'pause-briefly') process.pause(random.integer(100, BRIEFLY_MS))
    else {
      process.crash()
      died(process)
    }
  }
  return createProcess({ name, clock, skewMs, strike })
}

/** Starts the first process of a host. `run` starts what runs in it. */
export const createHost = (world: World, name: string, run: (process: SimulatedProcess) => Running): Host => {
  const { clock, faults, random, history } = world
  let started = 0
  let current: SimulatedProcess
  let running: Running

  const start = (): void => {
    current = spawnProcess(world, `${name}#${++started}`, (dead) => {
      if (dead === current) startAfter(random.integer(100, RESTART_WITHIN_MS))
    })
    history.trace(current.name, () => `starts, its clock ${current.skewMs} ms ahead`)
    running = run(current)
  }
  const startAfter = (ms: number): void => {
    clock.wakeAt(clock.now() + ms, start)
  }

  start()
  return {
    name,
    process: () => current,
    bus: () => running.bus,
    stop: async (thenAfterMs) => {
      const stopping = current
      if (thenAfterMs !== undefined) faults.keep('stopped', { process: stopping.name })
      const end = async () => {
        await running.stop()
        history.trace(stopping.name, () => 'has stopped')
        judgeEnded(history, faults, stopping)
        stopping.crash()
        if (thenAfterMs !== undefined) startAfter(thenAfterMs)
      }
      await new Promise<void>((resolve) => stopping.receive(() => void end().then(resolve)))
    },
  }
}
