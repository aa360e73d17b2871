const PARTS = [
  'years',
  'months',
  'weeks',
  'days',
  'hours',
  'minutes',
  'seconds',
  'milliseconds',
  'microseconds',
  'nanoseconds',
] as const

type Part = (typeof PARTS)[number]

/** An object whose properties are getters of its prototype, as all of Temporal's are: nothing of it is its own. */
const withGetters = <T extends object>(tag: string, values: T): T => {
  const prototype = {
    get [Symbol.toStringTag]() {
      return tag
    },
  } // as in the specification
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(prototype, name, { get: () => value, configurable: true })
  return Object.create(prototype) as T
}

/** What a `Temporal.Duration` looks like; with fewer parts, what those of older libraries do. */
export const temporalDuration = (given: Partial<Record<Part, number>>, smallest: Part = 'nanoseconds') => {
  const kept = PARTS.slice(0, PARTS.indexOf(smallest) + 1)
  return withGetters('Temporal.Duration', Object.fromEntries(kept.map((part) => [part, given[part] ?? 0])))
}

/** What a `Temporal.Instant` looks like: its milliseconds are cut, not rounded. */
export const temporalInstant = (epochNanoseconds: bigint) => {
  const million = 1_000_000n
  const cut = epochNanoseconds % million
  const epochMilliseconds = Number((epochNanoseconds - (cut < 0n ? cut + million : cut)) / million)
  return withGetters('Temporal.Instant', { epochMilliseconds, epochNanoseconds })
}
