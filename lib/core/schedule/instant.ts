import { describeValue, isDate, isPlainObject } from '../describe-value.js'
import { PostdateError } from '../errors.js'
import { nearestWord } from '../nearest-word.js'
import { type LocalTime, readLocalTime } from './local-time.js'

/** An instant by its number. `Temporal.Instant` and `Temporal.ZonedDateTime` fit. */
export interface EpochInstant {
  /** Epoch milliseconds; fractions round up. */
  readonly epochMilliseconds: number
  /** The same instant exactly, as Temporal's have it; what is beyond the millisecond rounds up. */
  readonly epochNanoseconds?: bigint
  readonly local?: never
}

/** An instant: a Date, a number that says that it is epoch milliseconds, or a time on the clocks of a named place. */
export type Instant = Date | EpochInstant | (LocalTime & { readonly epochMilliseconds?: never })

const FORM = 'deliverAt'
const NS_PER_MS = 1_000_000n

const refuse = (form: string, value: unknown, rule: string) =>
  new PostdateError('schedule.invalid-instant', { form, value: describeValue(value), rule })

const EPOCH_KEYS = ['epochMilliseconds', 'epochNanoseconds']
const LOCAL_KEYS = ['local', 'timeZone', 'ifMissing', 'ifAmbiguous']

/** An object that someone wrote holds nothing but what is read; one of a class (Temporal's) may hold more. */
const checkKeys = (value: object, known: readonly string[]): void => {
  if (!isPlainObject(value)) return
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    const nearest = nearestWord(key, known)
    const guess = nearest === undefined ? '' : `; did you mean ${nearest}?`
    throw refuse(`${FORM}.${key}`, value[key], `it is none of ${known.join(', ')}${guess}`)
  }
}

const readEpoch = (value: object): number => {
  const form = `${FORM}.epochMilliseconds`
  const at: unknown = Reflect.get(value, 'epochMilliseconds')
  if (typeof at !== 'number') throw refuse(form, at, 'it must be a number')
  if (!Number.isFinite(at)) throw refuse(form, at, 'it must be finite')
  if (Math.abs(at) > Number.MAX_SAFE_INTEGER) throw refuse(form, at, 'it is beyond what a number holds exactly')
  const exact: unknown = Reflect.get(value, 'epochNanoseconds')
  if (exact === undefined) return Math.ceil(at)
  if (typeof exact !== 'bigint') throw refuse(`${FORM}.epochNanoseconds`, exact, 'it must be a bigint')
  const beyond = exact - BigInt(Math.floor(at)) * NS_PER_MS
  if (beyond < 0n || beyond >= NS_PER_MS)
    throw refuse(`${FORM}.epochNanoseconds`, exact, `it is another instant than epochMilliseconds, ${at}`)
  return Math.floor(at) + (beyond === 0n ? 0 : 1)
}

/**
 * The end of what reads as seconds, in March 1973: the seconds of any instant up to the year 5138 are fewer. Taken for
 * milliseconds they have long passed, and the message would be sent at once.
 */
const SECONDS_END = 100_000_000_000

const checkUnit = (form: string, value: unknown, at: number, now: number): number => {
  if (at >= SECONDS_END || now < SECONDS_END) return at
  throw refuse(form, value, 'it is before March 1973; are these seconds? Milliseconds are 1,000 times as many')
}

/**
 * Reads an instant, epoch milliseconds, rounded up. Seconds in the place of milliseconds are refused by a clock that is past
 * what reads as such; without `now`, nothing is.
 * @throws PostdateError `schedule.invalid-instant`, `schedule.missing-local-time`, `schedule.repeated-local-time`
 */
export const readInstant = (value: unknown, now = 0): number => {
  if (isDate(value)) {
    // A class of dates may have a getTime of its own, which answers anything at all.
    const at = Date.prototype.getTime.call(value)
    if (Number.isNaN(at)) throw refuse(FORM, value, 'its time is NaN')
    return checkUnit(FORM, value, at, now)
  }
  const forms = typeof value === 'object' && value !== null ? value : {}
  const isEpoch = 'epochMilliseconds' in forms
  if (isEpoch && 'local' in forms) throw refuse(FORM, value, 'it has both epochMilliseconds and local')
  if (isEpoch) {
    checkKeys(forms, EPOCH_KEYS)
    return checkUnit(`${FORM}.epochMilliseconds`, Reflect.get(forms, 'epochMilliseconds'), readEpoch(forms), now)
  }
  if ('local' in forms) {
    checkKeys(forms, LOCAL_KEYS)
    return readLocalTime({ ...forms })
  }
  throw refuse(FORM, value, 'it must be a Date, { epochMilliseconds } or { local, timeZone }')
}
