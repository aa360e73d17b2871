import { silentLogger } from '../../lib/core/observation.js'
import type { Publication, PublishOutcome } from '../../lib/core/transport.js'
import type { DispatchParts } from '../../lib/lambda/environment.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'
import { envelopeOf } from './lambda-shapes.js'

/** A message as it was published, and when. */
export interface PublishedAt {
  readonly messageId: string
  readonly dueAt: number
  readonly at: number
}

/** A dispatching function's parts on virtual time, and what came of them. */
export const setUpDispatching = (mode: DispatchParts['mode'] = 'second', shards = 1) => {
  const clock = createVirtualClock()
  const published: PublishedAt[] = []
  const lines: string[] = []
  const persistence = memoryPersistence({ shards })
  const topic = { isDown: false }
  const publishOne = ({ envelope, delivery }: Publication): PublishOutcome => {
    if (topic.isDown) return { outcome: 'failed', blames: 'topic', published: 'no', reason: 'KMSDisabled' }
    published.push({ messageId: envelope.messageId, dueAt: delivery.dueAt ?? 0, at: clock.now() })
    return { outcome: 'published' }
  }
  const parts: DispatchParts = {
    busName: 'orders',
    tableName: 'orders-table',
    mode,
    clock,
    persistence,
    logger: silentLogger,
    writeLine: (line) => lines.push(line),
    transport: {
      name: 'recording',
      limits: { maxMessageBytes: 262_144, maxBatchBytes: 262_144, maxBatchMessages: 10 },
      publish: async (batch) => batch.map(publishOne),
    },
  }
  return {
    parts,
    clock,
    published,
    topic,
    /** Stores a message that falls due so many milliseconds from now. */
    store: (messageId: string, dueInMs: number, shard = 0) =>
      persistence.storeOutgoingMessages([
        {
          shard,
          dueAt: clock.now() + dueInMs,
          rowId: messageId,
          envelope: envelopeOf(messageId, 'shop/remind-payment', {}),
        },
      ]),
    /** The values of a metric, in the order in which they were written. */
    metric: (name: string): number[] =>
      lines.flatMap((line) => (JSON.parse(line) as Record<string, number[]>)[name] ?? []),
    /** An invocation's context whose time runs by the virtual clock. */
    invoke: (awsRequestId: string, timeoutMs = 300_000) => {
      const endsAt = clock.now() + timeoutMs
      return { awsRequestId, getRemainingTimeInMillis: () => endsAt - clock.now() }
    },
    lines,
  }
}
