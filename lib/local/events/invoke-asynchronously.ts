import type { AccessCheck } from '../access/check-access.js'
import type { Queue } from '../deploy/make-queues.js'
import type { MessageAttribute, QueueClient } from '../deploy/queue-client.js'
import type { FunctionPool } from '../functions/function-pool.js'
import type { Invocation, Trigger } from '../functions/invocation.js'
import type { MetricRecorder } from '../metrics/record-metrics.js'
import type { AsynchronousSettings } from './asynchronous-settings.js'

/** Takes events and runs a function with them later. */
export interface AsynchronousInvoker {
  /** Takes an event (JSON). Nobody waits for the function. */
  accept(event: string, trigger: Trigger): void
  stop(): void
}

/** What a function's asynchronous invocations need. */
export interface AsynchronousParts {
  readonly pool: FunctionPool
  readonly settings: AsynchronousSettings
  readonly queues: readonly Queue[]
  readonly client: QueueClient
  readonly access: AccessCheck
  readonly metrics: MetricRecorder
  readonly onLine: (line: string) => void
}

/** Lambda waits a minute before the first further attempt, and two before the second. */
const RETRY_AFTER_MS = [60_000, 120_000]

/** While a function is throttled, its events come back after this. */
const THROTTLED_AFTER_MS = 1000

type Condition = 'RetriesExhausted' | 'EventAgeExceeded'

/** The record that a destination gets. @see https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html */
const makeRecord = (event: string, arn: string, condition: Condition, attempts: number, last: Invocation | undefined) =>
  JSON.stringify({
    version: '1.0',
    timestamp: new Date().toISOString(),
    requestContext: {
      requestId: last?.requestId,
      functionArn: `${arn}:$LATEST`,
      condition,
      approximateInvokeCount: attempts,
    },
    requestPayload: JSON.parse(event) as unknown,
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    responsePayload: last?.error,
  })

/** Makes the asynchronous side of a function: retries, the age of events, destinations. */
export const makeAsynchronousInvoker = (parts: AsynchronousParts): AsynchronousInvoker => {
  const { pool, settings, queues, client, access, metrics, onLine } = parts
  const { definition } = pool
  const timers = new Set<NodeJS.Timeout>()
  let stopped = false

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        timers.delete(timer)
        resolve()
      }, ms)
      timers.add(timer)
    })

  const count = (name: string) =>
    metrics.record({ namespace: 'AWS/Lambda', name, dimensions: { FunctionName: definition.name }, value: 1 })

  const sendTo = async (arn: string, body: string, attributes?: Readonly<Record<string, MessageAttribute>>) => {
    const queue = queues.find((candidate) => candidate.arn === arn)
    const denial = await access.asRole(definition.roleArn, definition.name, {
      action: 'sqs:SendMessage',
      resource: arn,
    })
    if (queue !== undefined && denial === undefined) return client.send(queue.emulatorUrl, body, attributes)
    count('DestinationDeliveryFailures')
    onLine(
      `${definition.path} gave up an event, and its destination did not take it: ${denial?.message ?? `${arn} is missing`}`,
    )
  }

  const giveUp = async (event: string, condition: Condition, attempts: number, last: Invocation | undefined) => {
    count('AsyncEventsDropped')
    const { onFailureArn, deadLetterArn } = settings
    if (onFailureArn !== undefined)
      await sendTo(onFailureArn, makeRecord(event, definition.arn, condition, attempts, last))
    if (deadLetterArn !== undefined) {
      const text = (value: string): MessageAttribute => ({ DataType: 'String', StringValue: value })
      await sendTo(deadLetterArn, event, {
        RequestID: text(last?.requestId ?? 'none'),
        ErrorCode: { DataType: 'Number', StringValue: '200' },
        ErrorMessage: text((last?.error?.errorMessage || condition).slice(0, 1024)),
      })
    }
  }

  const run = async (event: string, trigger: Trigger): Promise<void> => {
    const acceptedAt = Date.now()
    let attempts = 0
    let last: Invocation | undefined
    while (!stopped) {
      if (Date.now() - acceptedAt > settings.maxAgeMs) return giveUp(event, 'EventAgeExceeded', attempts, last)
      last = await pool.invoke(event, trigger)
      if (last.outcome === 'ok') return
      if (last.outcome === 'throttled') {
        await pause(THROTTLED_AFTER_MS)
        continue
      }
      attempts++
      if (attempts > settings.retries) return giveUp(event, 'RetriesExhausted', attempts, last)
      await pause(RETRY_AFTER_MS[attempts - 1] ?? 0)
    }
  }

  return {
    accept: (event, trigger) => {
      run(event, trigger).catch((error: Error) => {
        if (!stopped) onLine(`${definition.path}: an event could not be invoked: ${error.message}`)
      })
    },
    stop: () => {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
