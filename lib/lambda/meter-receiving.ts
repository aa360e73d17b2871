import { systemClock } from '../core/clock.js'
import type { BusEvent } from '../core/observation.js'
import { environmentVariables } from '../wiring/environment.js'
import {
  metricNamespace,
  type ReceiverMetricKey,
  receiverMetricDimensions,
  receiverMetrics,
} from '../wiring/metrics.js'
import type { Environment } from './invocation.js'

/** Counts what happens in a receiver's function, and writes it for CloudWatch. */
export interface ReceivingMeter {
  /** Counts an event of the bus. */
  readonly count: (event: BusEvent) => void
  /** Writes what was counted since the last time, if anything was. */
  readonly flush: () => void
}

const COUNTED: Partial<Record<BusEvent['type'], ReceiverMetricKey>> = {
  'redelivery-stored': 'redeliveries',
  'dead-lettered': 'deadLetters',
  'newer-version': 'newerVersions',
}

/**
 * Makes the meter of a receiver that the constructs connected; for any other, whose names are not known, it writes nothing.
 * Written as a line of JSON in CloudWatch's embedded metric format: no request, and nothing to pay but the log.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export const meterReceiving = (
  environment: Environment,
  // Not the console: where a function logs in JSON, Lambda wraps what goes through it, and no metric is found in that.
  writeLine: (line: string) => void = (line) => process.stdout.write(`${line}\n`),
): ReceivingMeter => {
  const dimensions = {
    [receiverMetricDimensions.bus]: environment[environmentVariables.busName],
    [receiverMetricDimensions.table]: environment[environmentVariables.tableName],
    [receiverMetricDimensions.receiver]: environment[environmentVariables.receiverName],
  }
  const isConnected = Object.values(dimensions).every((value) => value !== undefined && value !== '')
  const counts = new Map<ReceiverMetricKey, number>()
  return {
    count: ({ type }) => {
      const key = COUNTED[type]
      if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1)
    },
    flush: () => {
      const counted = [...counts]
      counts.clear()
      if (!isConnected || counted.length === 0) return
      writeLine(
        JSON.stringify({
          _aws: {
            Timestamp: systemClock.now(),
            CloudWatchMetrics: [
              {
                Namespace: metricNamespace,
                Dimensions: [Object.keys(dimensions)],
                Metrics: counted.map(([key]) => ({ Name: receiverMetrics[key].name, Unit: receiverMetrics[key].unit })),
              },
            ],
          },
          ...dimensions,
          ...Object.fromEntries(counted.map(([key, count]) => [receiverMetrics[key].name, count])),
        }),
      )
    },
  }
}
