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
  /** Count only the crossings of this operation. */
  readonly operation: string | undefined
  left: number
}

const CRASHES = [
  ['crash-before-request', 'request'],
  ['crash-before-answer', 'answer'],
  ['crash-asleep', 'timer'],
] as const
/** Where a process is hurt most: between publishing and settling. */
const SORE = [
  ['request', 'publish'],
  ['answer', 'publish'],
  ['request', 'settle'],
  ['answer', 'claim'],
] as const
const SORE_WITHIN = 5
const ANYWHERE_WITHIN = 60
const RESTART_WITHIN_MS = 15_000
const BRIEFLY_MS = 12_000
/** Others claim within this once a lease has ended: a pause that ends then meets them at work. */
const MEETS_WITHIN_MS = 4_000

const drawFates = ({ random, faults }: World): readonly Fate[] => {
  const isDrawn = (kind: FaultKind) => faults.has(kind) && random.chance(0.6)
  const anywhere = (kind: FaultKind, crossing: Crossing): Fate => ({
    kind,
    crossing,
    operation: undefined,
    left: random.integer(1, ANYWHERE_WITHIN),
  })
  const sore = (kind: FaultKind, among: readonly (readonly [Crossing, string])[]): Fate => {
    const [crossing, operation] = random.pick(among)
    return { kind, crossing, operation, left: random.integer(1, SORE_WITHIN) }
  }
  const fates: Fate[] = []
  for (const [kind, crossing] of CRASHES) {
    if (!isDrawn(kind)) continue
    const among = SORE.filter(([where]) => where === crossing)
    fates.push(among.length > 0 && random.chance(0.5) ? sore(kind, among) : anywhere(kind, crossing))
  }
  for (const kind of ['pause-past-lease', 'pause-briefly'] as const)
    if (isDrawn(kind))
      fates.push(
        random.chance(0.5) ? sore(kind, SORE) : anywhere(kind, random.pick(['request', 'answer', 'timer'] as const)),
      )
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

  const strike: Mishap = (process, crossing, operation) => {
    if (faults.isCeased()) return
    const isMet = (fate: Fate) =>
      fate.crossing === crossing && (fate.operation ?? operation) === operation && --fate.left === 0
    const fate = fates.find(isMet)
    if (fate === undefined) return
    faults.keep(fate.kind, { process: name })
    if (fate.kind === 'pause-past-lease') process.pause(world.longPauseMs + random.integer(0, MEETS_WITHIN_MS))
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
        judgeEnded(world, stopping)
        stopping.crash()
        if (thenAfterMs !== undefined) startAfter(thenAfterMs)
      }
      await new Promise<void>((resolve) => stopping.receive(() => void end().then(resolve)))
    },
  }
}
