import { numberOf, optionalTextOf } from '../assembly/read-property.js'
import { isObject, type JsonObject, type Resource } from '../assembly/template.js'
import type { MetricSample } from './record-metrics.js'

/** A metric that an alarm watches, with what the run has measured of it. */
export interface WatchedMetric {
  readonly namespace: string
  readonly name: string
  readonly dimensions: Readonly<Record<string, string>>
  /** Empty: nothing of this name was ever written, which for most alarms means that its name is wrong. */
  readonly samples: readonly MetricSample[]
}

/** An alarm of the app. */
export interface AlarmReport {
  readonly name: string
  readonly path: string
  /** What it watches; several for an expression. */
  readonly metrics: readonly WatchedMetric[]
  /**
   * Whether it would ring for what was measured within its last period; `undefined` for an alarm on an expression. One
   * period decides, however many the alarm asks for.
   */
  readonly rings: boolean | undefined
}

type Comparison = (value: number, threshold: number) => boolean

const comparisons: Readonly<Record<string, Comparison>> = {
  GreaterThanThreshold: (value, threshold) => value > threshold,
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
  LessThanOrEqualToThreshold: (value, threshold) => value <= threshold,
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

const statistics: Readonly<Record<string, (values: readonly number[]) => number>> = {
  Sum: sumOf,
  Average: (values) => sumOf(values) / values.length,
  Maximum: (values) => Math.max(...values),
  Minimum: (values) => Math.min(...values),
  SampleCount: (values) => values.length,
}

const sameDimensions = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, value]) => other[name] === value)

const watch = (metric: JsonObject, samples: readonly MetricSample[]): WatchedMetric => {
  const listed = (metric.Dimensions ?? []) as readonly JsonObject[]
  const dimensions = Object.fromEntries(listed.map(({ Name, Value }) => [String(Name), String(Value)]))
  const namespace = String(metric.Namespace)
  const name = String(metric.MetricName)
  return {
    ...{ namespace, name, dimensions },
    samples: samples.filter(
      (sample) =>
        sample.namespace === namespace && sample.name === name && sameDimensions(sample.dimensions, dimensions),
    ),
  }
}

/** The metrics of an alarm on an expression; one that is an expression itself has none of its own. */
const watchListed = (resource: Resource, samples: readonly MetricSample[]): readonly WatchedMetric[] =>
  ((resource.properties.Metrics ?? []) as readonly JsonObject[]).flatMap(({ MetricStat: measured }) =>
    isObject(measured) && isObject(measured.Metric) ? [watch(measured.Metric, samples)] : [],
  )

const rings = (resource: Resource, { samples }: WatchedMetric, now: number): boolean | undefined => {
  const since = now - numberOf(resource, 'Period', 60) * 1000
  const values = samples.filter(({ at }) => at >= since).map(({ value }) => value)
  if (values.length === 0) return optionalTextOf(resource, 'TreatMissingData') === 'breaching'
  const statistic = statistics[optionalTextOf(resource, 'Statistic') ?? '']
  const comparison = comparisons[optionalTextOf(resource, 'ComparisonOperator') ?? '']
  if (statistic === undefined || comparison === undefined) return undefined
  return comparison(statistic(values), numberOf(resource, 'Threshold', 0))
}

/** What the alarms of an app say of what was measured. */
export const readAlarms = (
  resources: readonly Resource[],
  samples: readonly MetricSample[],
  now: number,
): readonly AlarmReport[] =>
  resources
    .filter(({ type }) => type === 'AWS::CloudWatch::Alarm')
    .map((resource) => {
      const { name, path, properties } = resource
      if (properties.MetricName === undefined)
        return { name, path, metrics: watchListed(resource, samples), rings: undefined }
      const metric = watch(properties, samples)
      return { name, path, metrics: [metric], rings: rings(resource, metric, now) }
    })
