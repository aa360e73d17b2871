import { checkKnown } from '../check-known.js'
import { describeValue } from '../describe-value.js'
import { PostdateError } from '../errors.js'
import { hashText } from '../ids.js'
import { type Duration, durationMs } from '../schedule.js'

/** How a receiver redelivers what its handlers failed at. Durations are milliseconds or parts, as in `deliverAfter`. */
export interface RedeliveryOptions {
  /** `false`: the queue alone retries, at its visibility time-out, and gives up by its redrive policy. @default true */
  readonly enabled?: boolean
  /** The wait after the first failure. @default 10 seconds */
  readonly delay?: Duration
  /** `fixed`: every wait is `delay`. `exponential`: each is twice the one before. @default 'exponential' */
  readonly backoff?: 'fixed' | 'exponential'
  /** The longest wait. @default 1 hour, or `delay` if that is longer */
  readonly maxDelay?: Duration
  /** The waits themselves, instead of `delay`, `backoff` and `maxDelay`. Further attempts wait as long as the last one. */
  readonly delays?: readonly Duration[]
  /**
   * Each wait is shortened by a share between 0 and this, from 0 to 1, so that messages that failed together don't come
   * together. The same message and attempt always has the same share. @default 0
   */
  readonly jitter?: number
  /** A message whose handler has failed so many times is dead; an integer from 1. @default 5, or one more than there are `delays` */
  readonly maxAttempts?: number
  /** Errors for which another attempt is of no use: the message is dead at once. @default none */
  readonly never?: (error: unknown) => boolean
}

/** Redelivery options with their defaults filled in. */
export interface RedeliveryPolicy {
  readonly enabled: boolean
  readonly delayMs: number
  readonly backoff: 'fixed' | 'exponential'
  readonly maxDelayMs: number
  readonly delaysMs: readonly number[] | undefined
  readonly jitter: number
  readonly maxAttempts: number
  readonly never: ((error: unknown) => boolean) | undefined
}

const DEFAULT_DELAY_MS = 10_000
const DEFAULT_MAX_DELAY_MS = 3_600_000
const DEFAULT_ATTEMPTS = 5

const KNOWN: readonly (keyof RedeliveryOptions)[] = [
  'enabled',
  'delay',
  'backoff',
  'maxDelay',
  'delays',
  'jitter',
  'maxAttempts',
  'never',
]

const refuse = (option: string, value: unknown, rule: string) =>
  new PostdateError('options.invalid', { option: `redelivery.${option}`, value: describeValue(value), rule })

const checkNames = (options: RedeliveryOptions): void => {
  checkKnown(options, KNOWN)
  const forms = (['delay', 'backoff', 'maxDelay'] as const).filter((name) => options[name] !== undefined)
  if (options.delays !== undefined && forms.length > 0)
    throw refuse('delays', options.delays, `it tells every wait, so ${forms.join(', ')} can't be given with it`)
}

const readDelays = (delays: RedeliveryOptions['delays']): readonly number[] | undefined => {
  if (delays === undefined) return undefined
  if (!Array.isArray(delays) || delays.length === 0) throw refuse('delays', delays, 'it must be a list of waits')
  return delays.map((delay, index) => durationMs(`delays[${index}]`, delay, refuse))
}

/**
 * Fills in the defaults and checks the ranges.
 * @throws PostdateError `options.invalid`, `options.unknown`
 */
export const settleRedelivery = (options: RedeliveryOptions = {}): RedeliveryPolicy => {
  checkNames(options)
  const { enabled = true, backoff = 'exponential', jitter = 0, never } = options
  const delaysMs = readDelays(options.delays)
  const delayMs = durationMs('delay', options.delay ?? DEFAULT_DELAY_MS, refuse)
  const maxDelayMs = durationMs('maxDelay', options.maxDelay ?? Math.max(DEFAULT_MAX_DELAY_MS, delayMs), refuse)
  const maxAttempts = options.maxAttempts ?? (delaysMs === undefined ? DEFAULT_ATTEMPTS : delaysMs.length + 1)
  if (typeof enabled !== 'boolean') throw refuse('enabled', enabled, 'it must be true or false')
  if (backoff !== 'fixed' && backoff !== 'exponential')
    throw refuse('backoff', backoff, "it must be 'fixed' or 'exponential'")
  if (maxDelayMs < delayMs) throw refuse('maxDelay', options.maxDelay, `it is shorter than the delay of ${delayMs} ms`)
  if (typeof jitter !== 'number' || !(jitter >= 0 && jitter <= 1)) throw refuse('jitter', jitter, 'it is from 0 to 1')
  if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 1)
    throw refuse('maxAttempts', maxAttempts, 'it must be an integer from 1')
  if (never !== undefined && typeof never !== 'function') throw refuse('never', never, 'it must be a function')
  return { enabled, delayMs, backoff, maxDelayMs, delaysMs, jitter, maxAttempts, never }
}

/** The wait after so many failures (from 1), before jitter, in milliseconds. */
export const plainDelay = (policy: RedeliveryPolicy, failures: number): number => {
  const { delayMs, backoff, maxDelayMs, delaysMs } = policy
  if (delaysMs !== undefined) return delaysMs[Math.min(failures, delaysMs.length) - 1] ?? 0
  return backoff === 'fixed' ? delayMs : Math.min(maxDelayMs, delayMs * 2 ** (failures - 1))
}

/** A stable number from 0 to 1, 1 excluded. */
const shareOf = (seed: string): number => Number.parseInt(hashText(seed).slice(0, 8), 16) / 2 ** 32

/**
 * The wait after so many failures, in whole milliseconds.
 * @param seed names message, receiver and attempt
 */
export const redeliveryDelay = (policy: RedeliveryPolicy, failures: number, seed: string): number => {
  const plainMs = plainDelay(policy, failures)
  return policy.jitter === 0 ? plainMs : plainMs - Math.floor(plainMs * policy.jitter * shareOf(seed))
}

/** The longest wait that a policy ever makes, in milliseconds; 0 when it makes none. */
export const longestDelay = (policy: RedeliveryPolicy): number => {
  const waits = policy.maxAttempts - 1
  if (!policy.enabled || waits < 1) return 0
  const { delaysMs } = policy
  // A list may rise and fall; everything else only rises.
  return delaysMs === undefined ? plainDelay(policy, waits) : Math.max(...delaysMs.slice(0, waits))
}
