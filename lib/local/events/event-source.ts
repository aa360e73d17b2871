import { flagOf, invalidResource, listOf, numberOf, objectOf, textOf } from '../assembly/read-property.js'
import type { Resource } from '../assembly/template.js'

/** A queue that feeds a function. */
export interface EventSource {
  readonly path: string
  readonly queueArn: string
  /** The function's name or ARN, as the template gives it. */
  readonly functionName: string
  readonly batchSize: number
  readonly windowSeconds: number
  /** Whether the function tells which messages failed. */
  readonly partial: boolean
  /** At most so many batches at once. */
  readonly concurrency: number
  readonly enabled: boolean
}

/** Lambda starts with five pollers. @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html */
const DEFAULT_CONCURRENCY = 5

/**
 * Reads an event source, with the rules of AWS.
 * @throws LocalCloudError `resource.invalid`
 */
export const readEventSource = (resource: Resource): EventSource => {
  const queueArn = textOf(resource, 'EventSourceArn')
  if (!queueArn.includes(':sqs:'))
    throw invalidResource(resource, `its source is ${queueArn}; only queues are known here`)
  const batchSize = numberOf(resource, 'BatchSize', 10)
  const windowSeconds = numberOf(resource, 'MaximumBatchingWindowInSeconds', 0)
  if (batchSize < 1 || batchSize > 10_000)
    throw invalidResource(resource, `BatchSize is ${batchSize}, outside 1 to 10000`)
  if (windowSeconds < 0 || windowSeconds > 300)
    throw invalidResource(resource, `MaximumBatchingWindowInSeconds is ${windowSeconds}, outside 0 to 300`)
  if (batchSize > 10 && windowSeconds < 1)
    throw invalidResource(resource, `BatchSize is ${batchSize}; above 10 a batching window of 1 s or more is needed`)
  const { MaximumConcurrency: concurrency } = objectOf(resource, 'ScalingConfig')
  if (concurrency !== undefined && (Number(concurrency) < 2 || Number(concurrency) > 1000))
    throw invalidResource(resource, `MaximumConcurrency is ${String(concurrency)}, outside 2 to 1000`)
  return {
    path: resource.path,
    queueArn,
    functionName: textOf(resource, 'FunctionName'),
    batchSize,
    windowSeconds,
    partial: listOf(resource, 'FunctionResponseTypes').includes('ReportBatchItemFailures'),
    concurrency: Math.min(concurrency === undefined ? DEFAULT_CONCURRENCY : Number(concurrency), DEFAULT_CONCURRENCY),
    enabled: flagOf(resource, 'Enabled', true),
  }
}
