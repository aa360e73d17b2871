import { isObject, type JsonObject } from '../assembly/template.js'
import type { MetricSample } from './record-metrics.js'

interface Directive {
  readonly Namespace: string
  readonly Dimensions?: readonly (readonly string[])[]
  readonly Metrics: readonly { readonly Name: string; readonly Unit?: string }[]
}

const parse = (line: string): JsonObject | undefined => {
  const start = line.indexOf('{')
  if (start < 0 || !line.includes('"CloudWatchMetrics"')) return undefined
  try {
    const value: unknown = JSON.parse(line.slice(start))
    return isObject(value) ? value : undefined
  } catch {
    // A line that only speaks of metrics is a log line like any other.
    return undefined
  }
}

const samplesOf = (
  document: JsonObject,
  { Namespace, Dimensions = [[]], Metrics }: Directive,
  at: number,
): MetricSample[] =>
  Dimensions.flatMap((names) => {
    const dimensions = Object.fromEntries(names.map((name) => [name, String(document[name])]))
    return Metrics.flatMap(({ Name, Unit = 'None' }) => {
      const value = document[Name]
      const values: readonly unknown[] = Array.isArray(value) ? value : [value]
      return values
        .filter((one): one is number => typeof one === 'number')
        .map((one) => ({ namespace: Namespace, name: Name, dimensions, value: one, unit: Unit, at }))
    })
  })

/**
 * The metrics in a line of a log, in the Embedded Metric Format; none in any other line.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export const readEmbeddedMetrics = (line: string): readonly MetricSample[] => {
  const document = parse(line)
  const aws = document?._aws
  if (document === undefined || !isObject(aws) || !Array.isArray(aws.CloudWatchMetrics)) return []
  const at = typeof aws.Timestamp === 'number' ? aws.Timestamp : Date.now()
  return (aws.CloudWatchMetrics as readonly Directive[]).flatMap((directive) => samplesOf(document, directive, at))
}
