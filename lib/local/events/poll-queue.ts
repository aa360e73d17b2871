import type { Queue } from '../deploy/make-queues.js'
import type { QueueClient, ReceivedMessage } from '../deploy/queue-client.js'
import type { FunctionPool } from '../functions/function-pool.js'
import { succeededMessages } from './batch-response.js'
import type { EventSource } from './event-source.js'
import { makeQueueEvent } from './queue-event.js'

/** SQS waits at most so long for a first message. */
const LONGEST_WAIT_SECONDS = 20

/** SQS hands out at most so many at once. */
const MOST_AT_ONCE = 10

/** A batch: what one receive gives, or, with a window, what comes within it. */
const receiveBatch = async (
  { batchSize, windowSeconds }: EventSource,
  { emulatorUrl }: Queue,
  client: QueueClient,
): Promise<readonly ReceivedMessage[]> => {
  const batch = [...(await client.receive(emulatorUrl, Math.min(batchSize, MOST_AT_ONCE), LONGEST_WAIT_SECONDS))]
  const until = Date.now() + windowSeconds * 1000
  while (batch.length > 0 && batch.length < batchSize) {
    const leftMs = until - Date.now()
    if (leftMs <= 0) break
    const waitSeconds = Math.min(LONGEST_WAIT_SECONDS, Math.ceil(leftMs / 1000))
    batch.push(...(await client.receive(emulatorUrl, Math.min(batchSize - batch.length, MOST_AT_ONCE), waitSeconds)))
  }
  return batch
}

/**
 * Polls a queue and feeds the function with batches, as many at once as the event source allows.
 * @param onFailure gets what a poller could not do; it goes on after a second.
 * @returns stops to poll; batches in the function's hands are let go of.
 */
export const pollQueue = (
  source: EventSource,
  queue: Queue,
  pool: FunctionPool,
  client: QueueClient,
  onFailure: (error: unknown) => void,
): (() => void) => {
  let stopped = false
  const poll = async (): Promise<void> => {
    while (!stopped) {
      try {
        const messages = await receiveBatch(source, queue, client)
        if (messages.length === 0 || stopped) continue
        const invocation = await pool.invoke(makeQueueEvent(messages, queue.arn), 'queue')
        await client.remove(queue.emulatorUrl, succeededMessages(invocation, messages, source.partial))
      } catch (error) {
        if (stopped) return
        onFailure(error)
        await new Promise((resolve) => setTimeout(resolve, 1000))
      }
    }
  }
  if (source.enabled) for (let count = 0; count < source.concurrency; count++) void poll()
  return () => {
    stopped = true
  }
}
