import type { Random } from './random.js'
import type { Trace } from './trace.js'

/** Every kind of fault, with what it does. Each occurs in at least a tenth of the seeds; a test counts. */
export const FAULTS = {
  'slow-call': 'a call takes seconds, on its way there or back',
  'store-refused': 'the store throttles a call: nothing of it is applied',
  'store-timed-out': 'the store applies a call, and the answer is an error',
  'store-late': 'a call is answered with an error, and is applied after that',
  'store-partial': 'some items of a call fail, applied or not, and the others do not',
  'topic-throttled': 'the topic refuses one request',
  'topic-down': 'the topic refuses everything for a while',
  'topic-timed-out': 'a publish is delivered, and the answer is a time-out',
  'topic-late': 'a publish times out, and is delivered after that',
  'topic-threw': 'the transport breaks its word and throws; it may have delivered',
  'request-refused': 'a request is refused whole',
  'entry-failed': 'one entry of a request fails for now, delivered or not',
  'refused-twice': 'a message is refused as if for good, and then accepted',
  'request-poisoned': 'a message has every request refused that it is in',
  'refused-for-good': 'a message is refused every time',
  'crash-before-request': 'a process dies as it is about to send a request',
  'crash-before-answer': 'a process dies after its request was applied, before the answer',
  'crash-asleep': 'a process dies while it waits for a timer',
  'pause-past-lease': 'a process stands still for longer than a lease, then goes on',
  'pause-briefly': 'a process stands still for some seconds',
  'clock-skew': 'the clocks of the processes differ, within the margin',
  stopped: 'a process is stopped as a deployment stops it, and replaced',
  'handler-threw': 'a handler sends, and then throws',
  'handler-always-throws': 'a handler fails at a message every time',
  'handler-slow': 'a handler takes longer than the record stays invisible',
  'delivered-twice': 'the queue delivers a record a second time',
  'acknowledgement-lost': 'the queue does not learn that a record was handled',
} as const

/** A kind of fault. */
export type FaultKind = keyof typeof FAULTS

/** Every kind of fault. */
export const FAULT_KINDS = Object.keys(FAULTS) as readonly FaultKind[]

/** One fault that happened. */
export interface Fault {
  readonly kind: FaultKind
  /** The world's time, epoch milliseconds. */
  readonly at: number
  /** The process that it struck, if it was one. */
  readonly process?: string
  /** The messages that it touched; a call may add to them once it is known which. */
  readonly messageIds: string[]
}

/** Where faults come from, and the record of those that came. */
export interface Faults {
  /** Whether this seed has faults of this kind at all. */
  has(kind: FaultKind): boolean
  /** Draws: `undefined` for no fault, else its record, which is kept. */
  draw(kind: FaultKind, probability: number, about?: Omit<Fault, 'kind' | 'at'>): Fault | undefined
  /** Keeps a fault that was decided elsewhere. */
  keep(kind: FaultKind, about?: Partial<Omit<Fault, 'kind' | 'at'>>): Fault
  /** From now on nothing fails. */
  cease(): void
  readonly isCeased: () => boolean
  readonly log: readonly Fault[]
}

/**
 * Draws which kinds a seed has. Some seeds have none, some nearly all: where few kinds strike, what they may explain is
 * little, so the checks are sharp there; where many do, they meet in ways that nobody thought of.
 */
const drawKinds = (random: Random): ReadonlySet<FaultKind> => {
  const density = random.pick([0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8])
  return new Set(FAULT_KINDS.filter(() => random.chance(density)))
}

/** Makes the faults of a seed. */
export const createFaults = (parts: {
  readonly random: Random
  readonly now: () => number
  readonly trace: Trace
}): Faults => {
  const { now, trace } = parts
  const random = parts.random.fork('faults')
  const kinds = drawKinds(random)
  const log: Fault[] = []
  let isCeased = false

  const keep: Faults['keep'] = (kind, about = {}) => {
    const fault: Fault = { kind, at: now(), messageIds: [], ...about }
    log.push(fault)
    trace(about.process ?? 'world', () => `FAULT ${kind}: ${FAULTS[kind]} ${fault.messageIds.join(' ')}`)
    return fault
  }

  return {
    has: (kind) => kinds.has(kind),
    keep,
    draw: (kind, probability, about) =>
      !isCeased && kinds.has(kind) && random.chance(probability) ? keep(kind, about) : undefined,
    cease: () => {
      isCeased = true
    },
    isCeased: () => isCeased,
    log,
  }
}
