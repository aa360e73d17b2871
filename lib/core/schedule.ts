import { PostdateError } from './errors.js'
import { LATEST_INSTANT } from './lease.js'

/** A duration in parts; they are added up. A day is 86,400,000 ms, whatever a clock on a wall does that day. */
export interface DurationParts {
  readonly days?: number
  readonly hours?: number
  readonly minutes?: number
  readonly seconds?: number
  readonly milliseconds?: number
}

/** When a message is to be delivered: at most one form. Without any, it is sent at once. */
export type ScheduleOptions =
  /** After a duration from now: milliseconds, or parts. Fractions round up. */
  | { readonly deliverAfter: number | DurationParts; readonly deliverAt?: never }
  /** At an instant. */
  | { readonly deliverAt: Date; readonly deliverAfter?: never }
  | { readonly deliverAfter?: never; readonly deliverAt?: never }

/** What the bus allows. */
export interface ScheduleRules {
  /** How far ahead a message may be scheduled. */
  readonly horizonMs: number
  /** What to do with an instant that has passed. */
  readonly pastDue: 'send' | 'reject'
}

/** The names of the schedule forms. */
export const SCHEDULE_FORMS = ['deliverAfter', 'deliverAt'] as const

const PART_MS: Readonly<Record<string, number>> = {
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1_000,
  milliseconds: 1,
}

/** What a value is, in a few words: for errors. */
export const describeValue = (value: unknown): string => {
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? 'an invalid Date' : `the Date ${value.toISOString()}`
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  return String(value)
}

const checkNumber = (form: string, value: unknown): number => {
  const refuse = (rule: string) =>
    new PostdateError('schedule.invalid-duration', { form, value: describeValue(value), rule })
  if (typeof value !== 'number') throw refuse('it must be a number of milliseconds or an object of parts')
  if (!Number.isFinite(value)) throw refuse('it must be finite')
  if (value < 0) throw refuse('it must not be negative')
  return value
}

const addParts = (form: string, parts: object): number => {
  const entries = Object.entries(parts)
  const refuse = (value: unknown, rule: string) =>
    new PostdateError('schedule.invalid-duration', { form, value: describeValue(value), rule })
  if (Array.isArray(parts) || parts instanceof Date) throw refuse(parts, 'it must be a number or an object of parts')
  if (entries.length === 0) throw refuse(parts, 'it has no parts')
  let totalMs = 0
  for (const [name, value] of entries) {
    const partMs = PART_MS[name]
    if (partMs === undefined) throw refuse(parts, `${name} is none of ${Object.keys(PART_MS).join(', ')}`)
    if (typeof value !== 'number') throw refuse(value, `${name} must be a number`)
    totalMs += checkNumber(`${form}.${name}`, value) * partMs
  }
  return totalMs
}

/**
 * A duration in milliseconds, from a number of them or from parts; fractions round up.
 * @throws PostdateError `schedule.invalid-duration`, which names the form
 */
export const durationMs = (form: string, value: unknown): number => {
  const totalMs = Math.ceil(
    typeof value === 'object' && value !== null ? addParts(form, value) : checkNumber(form, value),
  )
  if (Number.isSafeInteger(totalMs)) return totalMs
  const rule = 'it ends beyond what a number holds exactly'
  throw new PostdateError('schedule.invalid-duration', { form, value: describeValue(value), rule })
}

const afterDuration = (value: unknown, now: number): number => {
  const dueAt = now + durationMs('deliverAfter', value)
  if (!Number.isSafeInteger(dueAt)) {
    const rule = 'it ends beyond what a number holds exactly'
    throw new PostdateError('schedule.invalid-duration', { form: 'deliverAfter', value: describeValue(value), rule })
  }
  return dueAt
}

const atInstant = (value: unknown): number => {
  const refuse = (rule: string) =>
    new PostdateError('schedule.invalid-instant', { form: 'deliverAt', value: describeValue(value), rule })
  if (!(value instanceof Date)) throw refuse('it must be a Date')
  const at = value.getTime()
  if (Number.isNaN(at)) throw refuse('its time is NaN')
  return at
}

/**
 * The instant that a sender asks for, epoch milliseconds; `undefined` when no form is given. It may lie in the past, which
 * means at once.
 * @throws PostdateError `schedule.two-forms`, `schedule.missing-value`, `schedule.invalid-duration`,
 * `schedule.invalid-instant`, `schedule.beyond-horizon`, `schedule.in-the-past` (under `pastDue: 'reject'`)
 */
export const resolveDueAt = (options: object, now: number, rules: ScheduleRules): number | undefined => {
  const given = SCHEDULE_FORMS.filter((form) => form in options)
  if (given.length > 1) throw new PostdateError('schedule.two-forms', { forms: given })
  const [form] = given
  if (form === undefined) return undefined
  const value = (options as Record<string, unknown>)[form]
  if (value === undefined || value === null) {
    throw new PostdateError('schedule.missing-value', { form, value: String(value) })
  }
  const dueAt = form === 'deliverAfter' ? afterDuration(value, now) : atInstant(value)
  const limitAt = Math.min(now + rules.horizonMs, LATEST_INSTANT)
  if (dueAt > limitAt)
    throw new PostdateError('schedule.beyond-horizon', { dueAt, limitAt, horizonMs: rules.horizonMs })
  if (dueAt < now && rules.pastDue === 'reject') throw new PostdateError('schedule.in-the-past', { dueAt, now })
  return dueAt
}
