import type { Clock } from '../core/clock.js'
import type { BusEvent } from '../core/observation.js'
import type { Backlog } from '../core/persistence.js'
import { type MetricKey, metricDimensions, metricNamespace, metrics } from '../wiring/metrics.js'

/** What a meter works with. */
export interface MeterParts {
  readonly busName: string
  readonly tableName: string
  readonly clock: Clock
  readonly writeLine: (line: string) => void
}

/** Counts what happens in a dispatching function, and writes it for CloudWatch. */
export interface Meter {
  /** Counts an event of the bus. */
  count(event: BusEvent): void
  /** Counts something that failed and is no event. */
  countError(): void
  /** Notes the backlog as it was at `now`, epoch milliseconds. */
  noteBacklog(backlog: Backlog, now: number): void
  /** Writes what was counted since the last time, if anything was. */
  flush(): void
}

type Values = Partial<Record<MetricKey, number | readonly number[]>>

/** The most values that a metric has in one line. @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html */
const MOST_VALUES = 100

/** Events that tell of something that went wrong between this function, the table and the topic. */
const ERRORS: readonly BusEvent['type'][] = ['pass-failed', 'topic-down', 'settle-lost', 'release-lost']

/** Writes metrics as a line of JSON in CloudWatch's embedded metric format: no request, and nothing to pay but the log. */
const formatMetrics = ({ busName, tableName }: MeterParts, at: number, values: Values): string => {
  const present = Object.keys(values) as MetricKey[]
  return JSON.stringify({
    _aws: {
      Timestamp: at,
      CloudWatchMetrics: [
        {
          Namespace: metricNamespace,
          Dimensions: [[metricDimensions.bus, metricDimensions.table]],
          Metrics: present.map((key) => ({ Name: metrics[key].name, Unit: metrics[key].unit })),
        },
      ],
    },
    [metricDimensions.bus]: busName,
    [metricDimensions.table]: tableName,
    ...Object.fromEntries(present.map((key) => [metrics[key].name, values[key]])),
  })
}

/** Makes a meter. What a waker does is no sign that the dispatcher is alive. */
export const createMeter = (parts: MeterParts, of: 'dispatcher' | 'waker'): Meter => {
  const { clock, writeLine } = parts
  let latenesses: number[] = []
  let errors = 0
  let passes = 0
  let gauges: Values = {}

  const write = (values: Values) => writeLine(formatMetrics(parts, clock.now(), values))

  const takeLatenesses = (): Values => {
    const lateness = latenesses
    latenesses = []
    return lateness.length === 0 ? {} : { dispatched: lateness.length, lateness }
  }

  return {
    count: (event) => {
      if (event.type === 'pass' && of === 'dispatcher') passes++
      if (ERRORS.includes(event.type)) errors++
      if (event.type !== 'dispatched') return
      latenesses.push(event.latenessMs)
      if (latenesses.length === MOST_VALUES) write(takeLatenesses())
    },
    countError: () => {
      errors++
    },
    noteBacklog: ({ due, oldestDueAt, dead }, now) => {
      gauges = { backlog: due, backlogAge: Math.max(0, now - (oldestDueAt ?? now)), dead }
    },
    flush: () => {
      const values: Values = {
        ...takeLatenesses(),
        ...(errors > 0 && { errors }),
        ...(passes > 0 && { dispatcherAlive: 1 }),
        ...gauges,
      }
      errors = 0
      passes = 0
      gauges = {}
      if (Object.keys(values).length > 0) write(values)
    },
  }
}
