/** When a schedule fires. */
export type ScheduleTiming =
  | { readonly kind: 'rate'; readonly everyMs: number }
  | { readonly kind: 'at'; readonly at: number }

const unitMs: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/**
 * Reads `rate(1 minute)` or `at(2026-01-31T12:00:00)` (UTC).
 * @returns `undefined` for what is not understood; `cron(...)` is not known here.
 * @see https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
 */
export const readScheduleExpression = (expression: string): ScheduleTiming | undefined => {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? []
  if (count !== undefined && unit !== undefined && Number(count) > 0)
    return { kind: 'rate', everyMs: Number(count) * (unitMs[unit] ?? 0) }
  const [, instant] = /^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$/.exec(expression) ?? []
  const at = instant === undefined ? Number.NaN : Date.parse(`${instant}Z`)
  return Number.isNaN(at) ? undefined : { kind: 'at', at }
}
