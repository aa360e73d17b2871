import type { Invocation } from '../functions/invocation.js'
import type { MetricRecorder } from './record-metrics.js'

/** Records what Lambda measures of an invocation. */
export const recordInvocation = (
  { outcome, durationMs, startedAt }: Invocation,
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
}
