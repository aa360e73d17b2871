import { checkKnown } from './check-known.js'
import { type Clock, systemClock } from './clock.js'
import { describeValue } from './describe-value.js'
import type { DispatchOptions } from './dispatch/dispatch-options.js'
import { PostdateError } from './errors.js'
import { type Ids, randomIds } from './ids.js'
import { consoleLogger, guardObserver, type Logger, type Observer } from './observation.js'
import type { Persistence } from './persistence.js'
import type { OutgoingMiddleware } from './prepare.js'
import { type RecallRules, type RecallWindow, readRecallRules } from './recall-window.js'
import type { Receiver } from './receiver.js'
import { type Duration, durationMs, type RefuseDuration } from './schedule/duration.js'
import type { ScheduleRules } from './schedule.js'
import type { MessageSource, Transport, WakeHint } from './transport.js'

/** A receiver of a started bus, and where its messages come from. */
export interface StartedReceiver {
  readonly receiver: Receiver
  readonly source: MessageSource
}

/** The resolutions that a bus may have, in milliseconds. */
export type Resolution = 1 | 100 | 200 | 500 | 1_000

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
  /** How far ahead a message may be scheduled. @default ten years of 365.25 days */
  readonly horizon?: Duration
  /** What to do with an instant that has passed: send at once, or refuse. @default 'send' */
  readonly pastDue?: 'send' | 'reject'
  /**
   * The delays of `delayLevel`; the first is level 1. Append to it only: what a level means is written in every sender.
   * @default 1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h
   */
  readonly delayLevels?: readonly Duration[]
  /**
   * Due instants round up to a multiple of this, in milliseconds, so that messages of one moment go out together: fewer
   * requests, each message up to that much later. @default 1
   */
  readonly resolutionMs?: Resolution
  /**
   * Whether scheduled messages may be taken back, or until when. `false` and a window refuse recalls with a typed error
   * before the store is asked. @default true
   */
  readonly recall?: boolean | RecallWindow
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

type ScheduleOption = 'horizon' | 'pastDue' | 'delayLevels' | 'resolutionMs'

/** The options of a bus with their defaults filled in. */
export interface BusSettings extends Required<Omit<BusOptions, 'wakeHint' | 'onEvent' | 'recall' | ScheduleOption>> {
  readonly recall: RecallRules
  readonly wakeHint: WakeHint | undefined
  readonly observe: Observer
  readonly schedule: ScheduleRules
}

const TEN_YEARS_MS = 10 * 365.25 * 86_400_000
const RESOLUTIONS: readonly number[] = [1, 100, 200, 500, 1_000] satisfies Resolution[]
/** The table that RocketMQ made known. @see https://rocketmq.apache.org/docs/4.x/producer/04message3/ */
const DELAY_LEVELS_SECONDS = [
  ...[1, 5, 10, 30],
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 60, 120].map((minutes) => minutes * 60),
]
const DELAY_LEVELS = DELAY_LEVELS_SECONDS.map((seconds) => ({ seconds }))

/** Typed, so that none is forgotten. */
const KNOWN: Readonly<Record<keyof BusOptions, true>> = {
  name: true,
  transport: true,
  persistence: true,
  outgoing: true,
  horizon: true,
  pastDue: true,
  delayLevels: true,
  resolutionMs: true,
  recall: true,
  requireDurable: true,
  sendOnly: true,
  receivers: true,
  wakeHint: true,
  dispatch: true,
  clock: true,
  ids: true,
  logger: true,
  onEvent: true,
}
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

const readScheduleRules = (options: BusOptions): ScheduleRules => {
  const { horizon = TEN_YEARS_MS, pastDue = 'send', delayLevels = DELAY_LEVELS, resolutionMs = 1 } = options
  if (pastDue !== 'send' && pastDue !== 'reject') throw refuse('pastDue', pastDue, "it must be 'send' or 'reject'")
  if (!RESOLUTIONS.includes(resolutionMs))
    throw refuse('resolutionMs', resolutionMs, `it must be one of ${RESOLUTIONS.join(', ')}`)
  if (!Array.isArray(delayLevels) || delayLevels.length === 0)
    throw refuse('delayLevels', delayLevels, 'it must be a list of durations, at least one')
  const refuseDuration: RefuseDuration = refuse
  return {
    horizonMs: durationMs('horizon', horizon, refuseDuration),
    pastDue,
    delayLevelsMs: Array.from(delayLevels, (delay, index) =>
      durationMs(`delayLevels[${index}]`, delay, refuseDuration),
    ),
    resolutionMs,
  }
}

const readReceivers = (receivers: unknown): readonly StartedReceiver[] => {
  if (!Array.isArray(receivers)) throw refuse('receivers', receivers, 'it must be a list of { receiver, source }')
  for (const [index, one] of receivers.entries()) {
    if (typeof one?.receiver?.name === 'string' && typeof one.source?.start === 'function') continue
    const rule =
      'it must be { receiver, source }: what defineReceiver made, and where its messages come from, such as transport.source(name, routes)'
    throw refuse(`receivers[${index}]`, one, rule)
  }
  return receivers
}

/**
 * Fills in the defaults and checks the ranges.
 * @throws PostdateError `options.invalid`, `options.unknown`
 */
export const settleOptions = (options: BusOptions): BusSettings => {
  const { logger = consoleLogger } = options
  checkKnown(options, Object.keys(KNOWN))
  checkName('name', options.name)
  return {
    name: options.name,
    transport: options.transport,
    persistence: options.persistence,
    outgoing: options.outgoing ?? [],
    requireDurable: options.requireDurable ?? false,
    sendOnly: options.sendOnly ?? false,
    receivers: readReceivers(options.receivers ?? []),
    wakeHint: options.wakeHint,
    dispatch: options.dispatch ?? {},
    clock: options.clock ?? systemClock,
    ids: options.ids ?? randomIds,
    logger,
    observe: guardObserver(options.onEvent, logger),
    schedule: readScheduleRules(options),
    recall: readRecallRules(options.recall === undefined ? true : options.recall),
  }
}
