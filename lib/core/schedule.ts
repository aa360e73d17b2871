import { describeValue } from './describe-value.js'
import { PostdateError } from './errors.js'
import { LATEST_INSTANT } from './lease.js'
import { type AskedSchedule, roundUp } from './schedule/due-instant.js'
import { type Duration, durationMs } from './schedule/duration.js'
import { type Instant, readInstant } from './schedule/instant.js'

export type { Duration, DurationParts } from './schedule/duration.js'
export { durationMs } from './schedule/duration.js'

/** One way to say when, and no other with it. */
export type ScheduleForm =
  /** After a duration from now. */
  | { readonly deliverAfter: Duration; readonly deliverAt?: never; readonly delayLevel?: never }
  /** At an instant. */
  | { readonly deliverAt: Instant; readonly deliverAfter?: never; readonly delayLevel?: never }
  /** After the delay of a level: an index, from 1, into the bus option `delayLevels`. */
  | { readonly delayLevel: number; readonly deliverAfter?: never; readonly deliverAt?: never }
  | { readonly deliverAfter?: never; readonly deliverAt?: never; readonly delayLevel?: never }

/**
 * When a message is to be delivered: at most one form. Without any it is sent after the default delay of its definition, if
 * that has one, and else at once.
 */
export type ScheduleOptions = ScheduleForm & {
  /**
   * How long after its due instant the message is worth delivering. One that can't be dispatched by then is dead, with the
   * reason `expired`. More than 0. @default for ever
   */
  readonly discardAfter?: Duration
  /** Makes it due at a point from the instant asked for to this much later, chosen by the messageId. @default 0 */
  readonly spread?: Duration
}

/** What the bus allows. */
export interface ScheduleRules {
  /** How far ahead a message may be scheduled. */
  readonly horizonMs: number
  /** What to do with an instant that has passed. */
  readonly pastDue: 'send' | 'reject'
  /** The delay of each level; the first is level 1. */
  readonly delayLevelsMs: readonly number[]
  /** Due instants are multiples of this, in milliseconds. */
  readonly resolutionMs: number
}

/** The names of the schedule forms. */
export const SCHEDULE_FORMS = ['deliverAfter', 'deliverAt', 'delayLevel'] as const

/** The names of all schedule options. */
export const SCHEDULE_OPTIONS = [...SCHEDULE_FORMS, 'discardAfter', 'spread'] as const

const addDelay = (form: string, value: unknown, delayMs: number, now: number): number => {
  const askedAt = now + delayMs
  if (Number.isSafeInteger(askedAt)) return askedAt
  const rule = 'it ends beyond what a number holds exactly'
  throw new PostdateError('schedule.invalid-duration', { form, value: describeValue(value), rule })
}

const readLevel = (value: unknown, { delayLevelsMs }: ScheduleRules): number => {
  const delayMs = typeof value === 'number' && Number.isSafeInteger(value) ? delayLevelsMs[value - 1] : undefined
  if (delayMs !== undefined) return delayMs
  throw new PostdateError('schedule.unknown-delay-level', { level: describeValue(value), levels: delayLevelsMs.length })
}

type Given = Readonly<Record<string, unknown>>

const readAskedAt = (given: Given, form: string | undefined, now: number, rules: ScheduleRules) => {
  if (form === undefined) return undefined
  const value = given[form]
  if (form === 'deliverAt') return readInstant(value, now)
  if (form === 'delayLevel') return addDelay(form, value, readLevel(value, rules), now)
  return addDelay(form, value, durationMs(form, value), now)
}

const checkBounds = ({ askedAt = 0, spreadMs }: AskedSchedule, now: number, rules: ScheduleRules): void => {
  const { horizonMs, pastDue, resolutionMs } = rules
  // The last point that the spread may choose: whether a message is taken does not depend on its id.
  const latestAt = askedAt + spreadMs
  if (latestAt - now > horizonMs || roundUp(latestAt, resolutionMs) > LATEST_INSTANT) {
    const limitAt = Math.min(now + horizonMs, LATEST_INSTANT)
    throw new PostdateError('schedule.beyond-horizon', { dueAt: latestAt, limitAt, horizonMs })
  }
  if (askedAt < now && pastDue === 'reject') throw new PostdateError('schedule.in-the-past', { dueAt: askedAt, now })
}

const readDiscardAfter = ({ discardAfter }: Given): number => {
  const discardAfterMs = durationMs('discardAfter', discardAfter)
  if (discardAfterMs > 0) return discardAfterMs
  const rule = 'it must be more than 0; leave it out to deliver however late'
  throw new PostdateError('schedule.invalid-duration', { form: 'discardAfter', value: '0', rule })
}

/**
 * Reads the schedule that a sender asks for. `defaultDelayMs` is that of the message's definition, for a sender that gives
 * no form.
 * @throws PostdateError of the codes `schedule.*`
 */
export const readSchedule = (
  options: object,
  now: number,
  rules: ScheduleRules,
  defaultDelayMs?: number,
): AskedSchedule => {
  const names = SCHEDULE_OPTIONS.filter((name) => name in options)
  const given: Given = Object.fromEntries(names.map((name) => [name, Reflect.get(options, name)]))
  const forms = SCHEDULE_FORMS.filter((form) => form in given)
  if (forms.length > 1) throw new PostdateError('schedule.two-forms', { forms })
  for (const form of names) {
    const value = given[form]
    if (value === undefined || value === null)
      throw new PostdateError('schedule.missing-value', { form, value: String(value) })
  }
  const asked: AskedSchedule = {
    askedAt:
      readAskedAt(given, forms[0], now, rules) ??
      (defaultDelayMs === undefined ? undefined : addDelay('the default delay', defaultDelayMs, defaultDelayMs, now)),
    spreadMs: 'spread' in given ? durationMs('spread', given.spread) : 0,
    discardAfterMs: 'discardAfter' in given ? readDiscardAfter(given) : undefined,
  }
  if (asked.askedAt !== undefined) checkBounds(asked, now, rules)
  else if ('spread' in given) throw new PostdateError('schedule.spread-without-time', { spreadMs: asked.spreadMs })
  return asked
}
