import type { SendOptions } from '../../lib/index.js'

/** A way to say when, and the instant that it asks for. */
export interface Form {
  /** As it is shown. */
  readonly form: string
  /** What a sender passes at `now`, epoch milliseconds. All of it but a `Date` goes through JSON. */
  readonly options: (now: number) => SendOptions
  /** The instant asked for, epoch milliseconds, worked out without Postdate; `now` for at once. */
  readonly asks: (now: number) => number
}

/** A form that asks for an interval from the time of the send. */
export const after = (form: string, ms: number, options: SendOptions): Form => ({
  form,
  options: () => options,
  asks: (now) => now + ms,
})

/** What clocks in Melbourne show at an instant, as `2026-11-12T08:00:00.250`. */
const inMelbourne = (at: number): string => {
  const shown = new Date(at).toLocaleString('sv-SE', { timeZone: 'Australia/Melbourne' })
  return `${shown.replace(' ', 'T')}.${String(at % 1_000).padStart(3, '0')}`
}

/** The shape of a `Temporal.Duration`, which has all ten parts; a runtime with Temporal passes its own. */
const threeSeconds = {
  ...{ years: 0, months: 0, weeks: 0, days: 0, hours: 0, minutes: 0 },
  ...{ seconds: 3, milliseconds: 0, microseconds: 0, nanoseconds: 0 },
}

/** Every way to say when, each a few seconds ahead at most. */
export const forms: readonly Form[] = [
  after('nothing: at once', 0, {}),
  {
    form: 'deliverAt a Date in the past',
    options: (now) => ({ deliverAt: new Date(now - 3_600_000) }),
    asks: (now) => now,
  },
  after('deliverAfter: 500', 500, { deliverAfter: 500 }),
  after('deliverAfter: 2 s 250 ms, in parts', 2_250, { deliverAfter: { seconds: 2, milliseconds: 250 } }),
  after("deliverAfter: Temporal's shape, 3 s", 3_000, { deliverAfter: threeSeconds }),
  { form: 'deliverAt: a Date', options: (now) => ({ deliverAt: new Date(now + 3_500) }), asks: (now) => now + 3_500 },
  {
    form: 'deliverAt: { epochMilliseconds }',
    options: (now) => ({ deliverAt: { epochMilliseconds: now + 3_750 } }),
    asks: (now) => now + 3_750,
  },
  {
    form: 'deliverAt: { local, timeZone }',
    options: (now) => ({ deliverAt: { local: inMelbourne(now + 4_000), timeZone: 'Australia/Melbourne' } }),
    asks: (now) => now + 4_000,
  },
  after('delayLevel: 2, which is 5 s', 5_000, { delayLevel: 2 }),
  after('deliverAfter, discardAfter: an hour', 3_250, { deliverAfter: 3_250, discardAfter: { hours: 1 } }),
  after('deliverAfter, spread: 2 s', 2_500, { deliverAfter: 2_500, spread: { seconds: 2 } }),
]
