import { describeValue } from '../describe-value.js'
import { PostdateError } from '../errors.js'

/** A time as clocks on the walls of a place show it. */
export interface LocalTime {
  /** `2026-11-12T08:00`, with `:ss` and `.SSS` if need be; never with an offset. From 1970 to 9999. */
  readonly local: string
  /** The place's name in the IANA database, e.g. `Australia/Melbourne`; or `UTC`. The rules are those of the sender's runtime. */
  readonly timeZone: string
  /**
   * What to do where the clocks are put forward over this time, say from 02:00 to 03:00: `forward` takes 02:30 for 03:30,
   * `backward` for 01:30, `reject` refuses it. @default 'forward'
   */
  readonly ifMissing?: 'forward' | 'backward' | 'reject'
  /** Which to take where the clocks are put back and this time comes twice. @default 'first' */
  readonly ifAmbiguous?: 'first' | 'second' | 'reject'
}

const FORM = 'deliverAt'
const LOCAL = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?$/
const EARLIEST_YEAR = '1970'
const DAY_MS = 86_400_000

const refuse = (part: string, value: unknown, rule: string) =>
  new PostdateError('schedule.invalid-instant', { form: `${FORM}.${part}`, value: describeValue(value), rule })

/** Reads a local time as if it were UTC, epoch milliseconds. */
const readLocal = (local: unknown): number => {
  const [, minutes, seconds = '00', fraction = ''] = (typeof local === 'string' && LOCAL.exec(local)) || []
  if (minutes === undefined) throw refuse('local', local, 'it must be text like 2026-11-12T08:00, without an offset')
  if (minutes < EARLIEST_YEAR) throw refuse('local', local, 'its year must be 1970 or later')
  const text = `${minutes}:${seconds}.${fraction.padEnd(3, '0')}Z`
  const at = Date.parse(text)
  // Some days that no month has are read as days of the next one.
  if (Number.isNaN(at) || new Date(at).toISOString() !== text)
    throw refuse('local', local, 'there is no such day or time of day')
  return at
}

const clocks = new Map<string, Intl.DateTimeFormat>()
/** Names come from users: spelt in capitals and small letters, a few hundred make as many spellings as one likes. */
const MOST_CLOCKS = 500

const clockOf = (timeZone: unknown): Intl.DateTimeFormat => {
  if (typeof timeZone !== 'string' || !/^[A-Za-z]/.test(timeZone))
    throw refuse('timeZone', timeZone, 'it must be the name of a time zone, e.g. Australia/Melbourne')
  const known = clocks.get(timeZone)
  if (known !== undefined) return known
  if (clocks.size >= MOST_CLOCKS) clocks.clear()
  try {
    const clock = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    clocks.set(timeZone, clock)
    return clock
  } catch {
    throw refuse('timeZone', timeZone, 'this runtime knows no such time zone')
  }
}

/** What a clock shows at an instant, read as if it were UTC, less the instant: what is added to UTC there and then. */
const offsetAt = (clock: Intl.DateTimeFormat, at: number): number => {
  const shown: Record<string, number> = {}
  for (const { type, value } of clock.formatToParts(at)) shown[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown
  const wholeSecondAt = at - (((at % 1_000) + 1_000) % 1_000)
  return Date.UTC(year, month - 1, day, hour, minute, second) - wholeSecondAt
}

const checkChoice = (part: string, value: unknown, choices: readonly string[]): void => {
  if (!choices.includes(value as string)) throw refuse(part, value, `it must be ${choices.join(', ')}`)
}

/**
 * The instant at which clocks of a place show a time, epoch milliseconds. Where they show it twice or never, `ifAmbiguous`
 * and `ifMissing` decide.
 * @throws PostdateError `schedule.invalid-instant`, `schedule.missing-local-time`, `schedule.repeated-local-time`
 */
export const readLocalTime = (value: Readonly<Record<string, unknown>>): number => {
  const { local, timeZone, ifMissing = 'forward', ifAmbiguous = 'first' } = value
  checkChoice('ifMissing', ifMissing, ['forward', 'backward', 'reject'])
  checkChoice('ifAmbiguous', ifAmbiguous, ['first', 'second', 'reject'])
  const clock = clockOf(timeZone)
  const asUtc = readLocal(local)
  // No offset exceeds a day: one that is in force at that time is in force a day before or after.
  const before = offsetAt(clock, asUtc - DAY_MS)
  const after = offsetAt(clock, asUtc + DAY_MS)
  const instants = [...new Set([asUtc - before, asUtc - after])]
    .filter((at) => at + offsetAt(clock, at) === asUtc)
    .sort((one, other) => one - other)
  const [first, second] = instants
  const about = { local: String(local), timeZone: String(timeZone) }
  if (first === undefined) {
    if (ifMissing === 'reject') throw new PostdateError('schedule.missing-local-time', about)
    return ifMissing === 'forward' ? asUtc - before : asUtc - after
  }
  if (second === undefined) return first
  if (ifAmbiguous === 'reject') throw new PostdateError('schedule.repeated-local-time', { ...about, first, second })
  return ifAmbiguous === 'first' ? first : second
}
