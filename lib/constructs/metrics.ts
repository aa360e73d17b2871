import { Duration } from 'aws-cdk-lib'
import { Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import { type MetricKey, metricDimensions, metricNamespace, metrics } from '../wiring/metrics.js'

const statistics: Readonly<Record<MetricKey, string>> = {
  backlogAge: Stats.MAXIMUM,
  backlog: Stats.MAXIMUM,
  dispatched: Stats.SUM,
  lateness: Stats.p(99),
  dead: Stats.MAXIMUM,
  errors: Stats.SUM,
  dispatcherAlive: Stats.SUM,
}

/** A metric of a delivery: what its dispatcher writes to its log. */
export const deliveryMetric = (
  { busName, tableName }: { readonly busName: string; readonly tableName: string },
  key: MetricKey,
  options: MetricOptions = {},
): Metric =>
  new Metric({
    namespace: metricNamespace,
    metricName: metrics[key].name,
    dimensionsMap: { [metricDimensions.bus]: busName, [metricDimensions.table]: tableName },
    statistic: statistics[key],
    period: Duration.minutes(1),
    ...options,
  })
