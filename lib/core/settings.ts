import { type Clock, systemClock } from './clock.js'
import type { DispatchOptions } from './dispatch/dispatch-options.js'
import { PostdateError } from './errors.js'
import { type Ids, randomIds } from './ids.js'
import { consoleLogger, guardObserver, type Logger, type Observer } from './observation.js'
import type { Persistence } from './persistence.js'
import type { OutgoingMiddleware } from './prepare.js'
import type { Receiver } from './receiver.js'
import { describeValue, type ScheduleRules } from './schedule.js'
import type { MessageSource, Transport, WakeHint } from './transport.js'

/** A receiver of a started bus, and where its messages come from. */
export interface StartedReceiver {
  readonly receiver: Receiver
  readonly source: MessageSource
}

/** How a bus is made. */
export interface BusOptions {
  /** Stable; part of every recall handle. 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string
  /** Carries what is due. */
  readonly transport: Transport
  /** Keeps what is not due yet. */
  readonly persistence: Persistence
  /** Middleware that sees each message once, when it is sent or scheduled. @default none */
  readonly outgoing?: readonly OutgoingMiddleware[]
  /** How far ahead a message may be scheduled, in milliseconds. @default ten years of 365.25 days */
  readonly horizonMs?: number
  /** What to do with an instant that has passed: send at once, or refuse. @default 'send' */
  readonly pastDue?: 'send' | 'reject'
  /**
   * Refuse every delayed send on a persistence that isn't durable, as in a Lambda, which may be frozen or ended at any time.
   * @default false; `createBus` sets it inside AWS Lambda
   */
  readonly requireDurable?: boolean
  /** A bus that only sends: `start()` receives and dispatches nothing. @default false */
  readonly sendOnly?: boolean
  /** What a started bus receives. @default none */
  readonly receivers?: readonly StartedReceiver[]
  /** Wakes a sleeping dispatcher elsewhere. @default none */
  readonly wakeHint?: WakeHint
  /** How a started bus dispatches. @default see DispatchOptions */
  readonly dispatch?: DispatchOptions
  /** @default the machine's clock */
  readonly clock?: Clock
  /** @default random ids */
  readonly ids?: Ids
  /** @default warnings and errors to the console */
  readonly logger?: Logger
  /** Told of every event. @default none */
  readonly onEvent?: Observer
}

/** The options of a bus with their defaults filled in. */
export interface BusSettings extends Required<Omit<BusOptions, 'wakeHint' | 'onEvent' | 'horizonMs' | 'pastDue'>> {
  readonly wakeHint: WakeHint | undefined
  readonly observe: Observer
  readonly schedule: ScheduleRules
}

const TEN_YEARS_MS = 10 * 365.25 * 86_400_000
const NAME = /^[\w-]{1,64}$/

const refuse = (option: string, value: unknown, rule: string) =>
  new PostdateError('options.invalid', { option, value: describeValue(value), rule })

/**
 * Checks a name that keys and routes are made of: a bus's or a receiver's.
 * @throws PostdateError `options.invalid`
 */
export const checkName = (option: string, name: unknown): string => {
  if (typeof name === 'string' && NAME.test(name)) return name
  throw refuse(option, name, 'it must be 1 to 64 letters, digits, _ and -')
}

/**
 * Fills in the defaults and checks the ranges.
 * @throws PostdateError `options.invalid`
 */
export const settleOptions = (options: BusOptions): BusSettings => {
  const { horizonMs = TEN_YEARS_MS, pastDue = 'send', logger = consoleLogger } = options
  checkName('name', options.name)
  if (!Number.isSafeInteger(horizonMs) || horizonMs < 0)
    throw refuse('horizonMs', horizonMs, 'it must be milliseconds from 0')
  if (pastDue !== 'send' && pastDue !== 'reject') throw refuse('pastDue', pastDue, "it must be 'send' or 'reject'")
  return {
    name: options.name,
    transport: options.transport,
    persistence: options.persistence,
    outgoing: options.outgoing ?? [],
    requireDurable: options.requireDurable ?? false,
    sendOnly: options.sendOnly ?? false,
    receivers: options.receivers ?? [],
    wakeHint: options.wakeHint,
    dispatch: options.dispatch ?? {},
    clock: options.clock ?? systemClock,
    ids: options.ids ?? randomIds,
    logger,
    observe: guardObserver(options.onEvent, logger),
    schedule: { horizonMs, pastDue },
  }
}
