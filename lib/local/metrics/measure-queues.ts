import type { Queue } from '../deploy/make-queues.js'
import type { QueueClient } from '../deploy/queue-client.js'
import type { MetricSample } from './record-metrics.js'

/** What SQS measures of each queue at this moment: its visible messages. */
export const measureQueues = (queues: readonly Queue[], client: QueueClient): Promise<readonly MetricSample[]> =>
  Promise.all(
    queues.map(async (queue) => ({
      namespace: 'AWS/SQS',
      name: 'ApproximateNumberOfMessagesVisible',
      dimensions: { QueueName: queue.name },
      value: await client.countVisible(queue.emulatorUrl),
      unit: 'Count',
      at: Date.now(),
    })),
  )
