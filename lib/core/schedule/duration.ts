import { describeValue, isPlainObject } from '../describe-value.js'
import { PostdateError } from '../errors.js'
import { nearestWord } from '../nearest-word.js'

/**
 * A duration in parts, which are added up exactly. A day is 86,400,000 ms, whatever a clock on a wall does that day. A
 * `Temporal.Duration` fits, unless it has years, months or weeks: how long those are depends on the day they begin.
 */
export interface DurationParts {
  readonly days?: number
  readonly hours?: number
  readonly minutes?: number
  readonly seconds?: number
  readonly milliseconds?: number
  readonly microseconds?: number
  readonly nanoseconds?: number
}

/** Milliseconds, or parts. Fractions of a millisecond round up. */
export type Duration = number | DurationParts

/** Makes the error for a duration that is none. */
export type RefuseDuration = (form: string, value: unknown, rule: string) => PostdateError

const refuseSchedule: RefuseDuration = (form, value, rule) =>
  new PostdateError('schedule.invalid-duration', { form, value: describeValue(value), rule })

const PART_NS: ReadonlyMap<string, bigint> = new Map([
  ['days', 86_400_000_000_000n],
  ['hours', 3_600_000_000_000n],
  ['minutes', 60_000_000_000n],
  ['seconds', 1_000_000_000n],
  ['milliseconds', 1_000_000n],
  ['microseconds', 1_000n],
  ['nanoseconds', 1n],
])
const NS_PER_MS = 1_000_000n
const CALENDAR_PARTS = ['years', 'months', 'weeks']
const PARTS = [...PART_NS.keys()]

/** Why a number can't be an amount of time; `undefined` when it can. */
const faultOf = (value: unknown): string | undefined => {
  if (typeof value !== 'number') return 'it must be a number'
  if (!Number.isFinite(value)) return 'it must be finite'
  if (value < 0) return 'it must not be negative'
  return value > Number.MAX_SAFE_INTEGER ? 'it is beyond what a number holds exactly' : undefined
}

/** A number as it is written: 1.1 is 11 and one place, so that 1.1 s are 1,100 ms and not 1,100.0000000000002. */
const toDecimal = (value: number): { readonly digits: bigint; readonly places: number } => {
  const [mantissa = '0', exponent = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  const digits = BigInt(whole + fraction)
  const places = fraction.length - Number(exponent)
  return places >= 0 ? { digits, places } : { digits: digits * 10n ** BigInt(-places), places: 0 }
}

/** Adds up amounts of units without losing any part of them; whole milliseconds, rounded up. */
const addExactly = (amounts: readonly (readonly [amount: number, unitNs: bigint])[]): bigint => {
  const decimals = amounts.map(([amount, unitNs]) => ({ ...toDecimal(amount), unitNs }))
  const places = Math.max(0, ...decimals.map((decimal) => decimal.places))
  const total = decimals.reduce(
    (sum, { digits, unitNs, places: own }) => sum + digits * unitNs * 10n ** BigInt(places - own),
    0n,
  )
  const perMs = NS_PER_MS * 10n ** BigInt(places)
  return (total + perMs - 1n) / perMs
}

const checkCalendarPart = (form: string, name: string, amount: unknown, refuse: RefuseDuration): void => {
  if (amount !== 0)
    throw refuse(`${form}.${name}`, amount, 'years, months and weeks are no fixed time; give days and smaller parts')
}

/** The amounts of an object that someone wrote; every property has to be a known part. */
const readWrittenParts = (form: string, parts: Readonly<Record<string, unknown>>, refuse: RefuseDuration) => {
  const given = Object.entries(parts)
  if (given.length === 0) throw refuse(form, parts, 'it has no parts')
  return given.filter(([name, amount]) => {
    if (PART_NS.has(name)) return true
    if (CALENDAR_PARTS.includes(name)) checkCalendarPart(form, name, amount, refuse)
    else {
      const nearest = nearestWord(name, PARTS)
      const guess = nearest === undefined ? '' : `; did you mean ${nearest}?`
      throw refuse(form, parts, `${name} is none of ${PARTS.join(', ')}${guess}`)
    }
    return false
  })
}

/**
 * The amounts of a `Temporal.Duration`, which has its parts as getters, known by having all ten. The durations of other
 * libraries are refused, since one with parts of its own (quarters, say) would lose them unseen.
 */
const readTemporalParts = (form: string, value: object, refuse: RefuseDuration) => {
  const amounts = new Map<string, unknown>()
  for (const name of [...CALENDAR_PARTS, ...PARTS]) amounts.set(name, Reflect.get(value, name))
  if ([...amounts.values()].some((amount) => typeof amount !== 'number'))
    throw refuse(form, value, 'it must be a number of milliseconds, an object of parts, or a Temporal.Duration')
  for (const name of CALENDAR_PARTS) checkCalendarPart(form, name, amounts.get(name), refuse)
  return PARTS.map((name) => [name, amounts.get(name)] as const)
}

const addParts = (form: string, value: object, refuse: RefuseDuration): bigint => {
  const given = isPlainObject(value) ? readWrittenParts(form, value, refuse) : readTemporalParts(form, value, refuse)
  return addExactly(
    given.map(([name, amount]) => {
      const fault = faultOf(amount)
      if (fault !== undefined) throw refuse(`${form}.${name}`, amount, fault)
      return [Number(amount), PART_NS.get(name) ?? 0n]
    }),
  )
}

/**
 * A duration in milliseconds, from a number of them or from parts; fractions round up. `form` names it in errors.
 * @throws PostdateError `schedule.invalid-duration`, or what `refuse` makes
 */
export const durationMs = (form: string, value: unknown, refuse: RefuseDuration = refuseSchedule): number => {
  if (typeof value === 'object' && value !== null) {
    const totalMs = addParts(form, value, refuse)
    if (totalMs > Number.MAX_SAFE_INTEGER) throw refuse(form, value, 'it is beyond what a number holds exactly')
    return Number(totalMs)
  }
  if (typeof value !== 'number') throw refuse(form, value, 'it must be a number of milliseconds or an object of parts')
  const fault = faultOf(value)
  if (fault !== undefined) throw refuse(form, value, fault)
  return Math.ceil(value)
}
