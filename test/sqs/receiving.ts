import { GetQueueAttributesCommand, SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { afterAll, afterEach, beforeAll, vi } from 'vitest'
import { silentLogger } from '../../lib/core/observation.js'
import type { IncomingRecord } from '../../lib/core/transport.js'
import { type SqsSourceOptions, sqsSource } from '../../lib/sqs/source.js'
import { startTestMessaging, type TestMessaging } from '../support/messaging.js'

/** A promise and what resolves it. */
export const gate = () => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), opened }
}

/** Bodies that tell each other apart. */
export const numbered = (count: number) => Array.from({ length: count }, (_, index) => `{"n":${index}}`)

/** Sets a test file up to receive from queues of an emulator; what a test leaves receiving is stopped after it. */
export const setUpReceiving = () => {
  let messaging: TestMessaging | undefined
  const stops: (() => Promise<void>)[] = []
  beforeAll(async () => {
    messaging = await startTestMessaging()
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await Promise.all(stops.splice(0).map((stop) => stop()))
  })
  afterAll(() => messaging?.stop())
  const running = (): TestMessaging => {
    if (messaging === undefined) throw new Error('the emulator is not started yet')
    return messaging
  }

  return {
    messaging: running,
    receive(
      options: Partial<SqsSourceOptions> & { queueUrl: string },
      onBatch: (records: readonly IncomingRecord[]) => Promise<readonly string[]>,
    ) {
      const defaults = { client: running().sqs, waitTimeSeconds: 1, logger: silentLogger }
      const stop = sqsSource({ ...defaults, ...options }).start(onBatch)
      stops.push(stop)
      return stop
    },
    async sendAll(queueUrl: string, bodies: readonly string[]) {
      for (let start = 0; start < bodies.length; start += 10) {
        const Entries = bodies
          .slice(start, start + 10)
          .map((MessageBody, index) => ({ Id: String(index), MessageBody }))
        await running().sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }))
      }
    },
    /** How many messages a queue holds: to be received, and received but not acknowledged. */
    async countMessages(queueUrl: string) {
      const { Attributes = {} } = await running().sqs.send(
        new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
      )
      return {
        visible: Number(Attributes.ApproximateNumberOfMessages),
        hidden: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
      }
    },
  }
}
