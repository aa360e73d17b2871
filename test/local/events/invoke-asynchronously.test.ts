import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { AccessCheck } from '../../../lib/local/access/check-access.js'
import type { Queue } from '../../../lib/local/deploy/make-queues.js'
import type { QueueClient } from '../../../lib/local/deploy/queue-client.js'
import type { AsynchronousSettings } from '../../../lib/local/events/asynchronous-settings.js'
import { makeAsynchronousInvoker } from '../../../lib/local/events/invoke-asynchronously.js'
import type { FunctionPool } from '../../../lib/local/functions/function-pool.js'
import type { Invocation, InvocationOutcome } from '../../../lib/local/functions/invocation.js'
import { makeMetricRecorder } from '../../../lib/local/metrics/record-metrics.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const QUEUE = 'arn:aws:sqs:us-east-1:0:gone'

const ended = (outcome: InvocationOutcome): Invocation => ({
  ...{ requestId: 'r1', function: 'F', path: 'Demo/F', trigger: 'event', outcome, payload: undefined, logs: [] },
  error: outcome === 'ok' ? undefined : { errorType: 'Error', errorMessage: 'no' },
  ...{ startedAt: 0, durationMs: 1, initMs: undefined, pid: 1 },
})

/** An invoker whose function ends as told; the last outcome is that of all further attempts. */
const make = (outcomes: readonly InvocationOutcome[], settings: Partial<AsynchronousSettings> = {}, denied = false) => {
  const startedAt = Date.now()
  const attempts: number[] = []
  const sent: string[] = []
  const lines: string[] = []
  const pool = {
    definition: { path: 'Demo/F', name: 'f', arn: 'arn:f', roleArn: 'arn:r' },
    invoke: async () => {
      const outcome = outcomes[Math.min(attempts.length, outcomes.length - 1)] ?? 'ok'
      attempts.push(Date.now() - startedAt)
      return ended(outcome)
    },
  } as unknown as FunctionPool
  const metrics = makeMetricRecorder()
  const invoker = makeAsynchronousInvoker({
    pool,
    settings: { retries: 2, maxAgeMs: 21_600_000, onFailureArn: QUEUE, deadLetterArn: undefined, ...settings },
    queues: [{ arn: QUEUE, emulatorUrl: 'url' } as Partial<Queue> as Queue],
    client: { send: async (_: string, body: string) => void sent.push(body) } as Partial<QueueClient> as QueueClient,
    access: {
      asRole: async () => (denied ? { action: 'a', resource: 'b', message: 'not authorized' } : undefined),
    } as Partial<AccessCheck> as AccessCheck,
    metrics,
    onLine: (line) => lines.push(line),
  })
  const dropped = () => metrics.samples().filter(({ name }) => name === 'AsyncEventsDropped').length
  return { invoker, attempts, sent, lines, dropped }
}

it('a failed event is tried again after one minute, and then after two', async () => {
  const { invoker, attempts, sent } = make(['error', 'timeout', 'ok'])
  invoker.accept('{}', 'event')
  await vi.advanceTimersByTimeAsync(600_000)
  expect(attempts).toEqual([0, 60_000, 180_000])
  expect(sent).toEqual([])
})

it('an event whose retries are used up goes to the destination', async () => {
  const { invoker, attempts, sent, dropped } = make(['error'])
  invoker.accept('{"a":1}', 'event')
  await vi.advanceTimersByTimeAsync(600_000)
  expect(attempts).toHaveLength(3)
  expect(sent.map((body) => JSON.parse(body))).toMatchObject([
    { requestContext: { condition: 'RetriesExhausted', approximateInvokeCount: 3 }, requestPayload: { a: 1 } },
  ])
  expect(dropped()).toBe(1)
})

it('a throttled event is no failed attempt, and is given up at its age', async () => {
  const { invoker, attempts, sent } = make(['throttled'], { retries: 0, maxAgeMs: 60_000 })
  invoker.accept('{}', 'event')
  await vi.advanceTimersByTimeAsync(600_000)
  expect(attempts.length).toBeGreaterThan(50)
  expect(Math.max(...attempts)).toBeLessThanOrEqual(60_000)
  expect(JSON.parse(sent[0] ?? '{}')).toMatchObject({ requestContext: { condition: 'EventAgeExceeded' } })
})

it('a retry that would come after the event is too old does not come', async () => {
  const { invoker, attempts, sent } = make(['error'], { maxAgeMs: 59_000 })
  invoker.accept('{}', 'event')
  await vi.advanceTimersByTimeAsync(600_000)
  expect(attempts).toEqual([0])
  expect(JSON.parse(sent[0] ?? '{}')).toMatchObject({ requestContext: { condition: 'EventAgeExceeded' } })
})

it('a destination that the role may not fill gets nothing, and a line says so', async () => {
  const { invoker, sent, lines } = make(['error'], { retries: 0 }, true)
  invoker.accept('{}', 'event')
  await vi.advanceTimersByTimeAsync(1000)
  expect(sent).toEqual([])
  expect(lines).toEqual([expect.stringContaining('did not take it: not authorized')])
})

it('nothing is tried again after the stop', async () => {
  const { invoker, attempts } = make(['error'])
  invoker.accept('{}', 'event')
  await vi.advanceTimersByTimeAsync(1000)
  invoker.stop()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(attempts).toHaveLength(1)
})
