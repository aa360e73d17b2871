import { readEmbeddedMetrics } from './read-embedded-metrics.js'
import type { MetricRecorder } from './record-metrics.js'

/**
 * Records the metrics in a line that a function logs. CloudWatch reads them from the log as it is written: a function that
 * is at work for minutes has metrics all the while.
 */
export const recordEmbedded = (line: string, metrics: MetricRecorder): void => {
  for (const sample of readEmbeddedMetrics(line)) metrics.record(sample)
}
