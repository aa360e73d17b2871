import type { DispatchOptions } from '../../lib/core/dispatch/dispatch-options.js'
import type { RedeliveryOptions } from '../../lib/core/redelivery/redelivery-policy.js'
import type { Faults } from './faults.js'
import type { Random } from './random.js'

/** A message that will be sent, and what its handler will do: the same in every run of it. */
export interface PlannedMessage {
  readonly number: string
  readonly kind: 'command' | 'event'
  /** `after` and `at` wait so long from the moment of sending; `at` keeps its instant when it is sent again. */
  readonly form: 'now' | 'after' | 'at'
  readonly delayMs: number
  /** Sent under an id of its own, and again under that id when the first try was unsure. */
  readonly hasOwnId: boolean
  /** How the topic refuses it every time: the message itself, or each request that it is in. */
  readonly refusal: 'message' | 'request' | undefined
  /** Its handlers fail every time. */
  readonly isUnhandleable: boolean
  readonly thinkMs: number
  /** What its handler sends. */
  readonly children: readonly PlannedMessage[]
  /** Its sender, a handler, takes it back before the handler ends. */
  readonly isTakenBack: boolean
}

/** What happens in a simulation, apart from faults. Times are milliseconds from its start. */
export interface Scenario {
  readonly mode: 'started' | 'turns'
  readonly workers: number
  readonly shards: number
  readonly queues: number
  readonly redelivery: RedeliveryOptions
  /** Whether receivers have dead letters; without, a queue delivers for ever. */
  readonly hasDeadLetters: boolean
  /** How fast the network is: the longest that a call usually takes on one way. */
  readonly usualMs: number
  readonly dispatch: Required<DispatchOptions>
  /** How the scheduled dispatcher works, and for how long an invocation may. */
  readonly turnMode: 'second' | 'minute'
  readonly turnMs: number
  /** Faults and sends end then. */
  readonly activeMs: number
  readonly sends: readonly { readonly afterMs: number; readonly message: PlannedMessage }[]
  readonly recalls: readonly number[]
  readonly stops: readonly number[]
  readonly topicDown: { readonly fromMs: number; readonly untilMs: number } | undefined
}

const SHORTEST_MS = 30_000
const LONGEST_MS = 70_000
/** Handlers send, the handlers of what they sent send, and those of the last send nothing. */
const MOST_DEPTH = 2

const drawDelay = (random: Random): number =>
  random.pick([
    () => random.integer(1, 900),
    () => random.integer(1_000, 8_000),
    () => random.integer(2_000, 30_000),
    () => random.pick([5_000, 10_000]),
  ])()

/** What messages may meet every time. */
interface Allowed {
  readonly refusals: readonly ('message' | 'request')[]
  readonly unhandleable: boolean
}

const planMessage = (random: Random, allowed: Allowed, number: string, depth: number): PlannedMessage => {
  const form = random.pick(['now', 'after', 'after', 'at', 'at'] as const)
  // What is refused when a handler sends it at once would fail that handler for ever; that is no matter of delays.
  const mayBeRefused = allowed.refusals.length > 0 && (form === 'after' || depth === MOST_DEPTH)
  const children = depth === 0 || random.chance(0.7) ? 0 : random.integer(1, 2)
  return {
    number,
    kind: random.pick(['command', 'event']),
    form,
    delayMs: form === 'now' ? 0 : drawDelay(random),
    hasOwnId: random.chance(0.6),
    refusal: mayBeRefused && random.chance(0.06) ? random.pick(allowed.refusals) : undefined,
    isUnhandleable: allowed.unhandleable && random.chance(0.1),
    thinkMs: random.chance(0.3) ? random.integer(1, 500) : 0,
    children: Array.from({ length: children }, (_, index) =>
      planMessage(random, allowed, `${number}.${index + 1}`, depth - 1),
    ),
    isTakenBack: number.includes('.') && random.chance(0.1),
  }
}

const drawTimes = (random: Random, most: number, withinMs: number): readonly number[] =>
  Array.from({ length: random.integer(0, most) }, () => random.integer(1, withinMs)).sort((one, other) => one - other)

/** Draws what happens. */
export const planScenario = (source: Random, faults: Faults): Scenario => {
  const random = source.fork('scenario')
  const activeMs = random.integer(SHORTEST_MS, LONGEST_MS)
  const publishTimeoutMs = random.pick([2_000, 5_000])
  const lookAheadMs = random.pick([0, 250, 1_000])
  const downFromMs = random.integer(1_000, activeMs - 10_000)
  const count = random.integer(5, 24)
  const redelivery = random.pick<RedeliveryOptions>([
    {},
    { enabled: false },
    { delay: 2_000, backoff: 'fixed', maxAttempts: 3 },
    { delays: [1_000, 5_000], jitter: 0.5 },
  ])
  const hasDeadLetters = redelivery.enabled !== false && random.chance(0.7)
  const allowed: Allowed = {
    refusals: [
      ...(faults.has('refused-for-good') ? (['message'] as const) : []),
      ...(faults.has('request-poisoned') ? (['request'] as const) : []),
    ],
    unhandleable: hasDeadLetters && faults.has('handler-always-throws'),
  }
  const bursts = drawTimes(random, 3, activeMs - 5_000)
  return {
    mode: random.chance(0.7) ? 'started' : 'turns',
    workers: random.pick([2, 2, 3]),
    shards: random.pick([1, 2, 4]),
    queues: random.pick([1, 1, 2]),
    redelivery,
    hasDeadLetters,
    usualMs: random.pick([30, 30, 300, 1_500]),
    dispatch: {
      pollMs: random.pick([1_000, 2_000]),
      lookAheadMs,
      leaseMs: random.pick([12_500, 15_000, 30_000]),
      publishTimeoutMs,
      maxInHand: random.pick([2, 10, 1_000]),
      maxInHandBytes: random.pick([500, 32 * 1024 * 1024]),
      maxPublishing: random.pick([1, 2, 8]),
    },
    turnMode: random.pick(['second', 'minute']),
    turnMs: random.integer(20_000, 100_000),
    activeMs,
    sends: Array.from({ length: count }, (_, index) => ({
      afterMs: random.chance(0.4) && bursts.length > 0 ? random.pick(bursts) : random.integer(1, activeMs - 5_000),
      message: planMessage(random, allowed, String(index + 1), MOST_DEPTH),
    })),
    recalls: drawTimes(random, 16, activeMs),
    stops: faults.has('stopped') ? drawTimes(random, 3, activeMs) : [],
    topicDown: faults.has('topic-down')
      ? { fromMs: downFromMs, untilMs: downFromMs + random.integer(1_000, 40_000) }
      : undefined,
  }
}

/** Every message of a scenario by its number, those that handlers send included. */
export const messagesOf = ({ sends }: Scenario): ReadonlyMap<string, PlannedMessage> => {
  const all = new Map<string, PlannedMessage>()
  const add = (message: PlannedMessage): void => {
    all.set(message.number, message)
    for (const child of message.children) add(child)
  }
  for (const { message } of sends) add(message)
  return all
}
