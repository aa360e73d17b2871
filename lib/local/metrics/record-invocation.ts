import type { Invocation } from '../functions/invocation.js'
import { readEmbeddedMetrics } from './read-embedded-metrics.js'
import type { MetricRecorder } from './record-metrics.js'

/** Records what Lambda measures of an invocation, and the metrics that the function wrote into its log. */
export const recordInvocation = (
  { outcome, durationMs, startedAt, logs }: Invocation,
  functionName: string,
  metrics: MetricRecorder,
): void => {
  const record = (name: string, value: number, unit = 'Count') =>
    metrics.record({
      namespace: 'AWS/Lambda',
      name,
      dimensions: { FunctionName: functionName },
      value,
      unit,
      at: startedAt,
    })
  if (outcome === 'throttled') {
    record('Throttles', 1)
    return
  }
  record('Invocations', 1)
  record('Errors', outcome === 'ok' ? 0 : 1)
  record('Duration', durationMs, 'Milliseconds')
  for (const line of logs) for (const sample of readEmbeddedMetrics(line)) metrics.record(sample)
}
