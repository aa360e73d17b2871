import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Publication } from '../../lib/core/transport.js'
import { snsTransport } from '../../lib/sns/transport.js'
import { startTestMessaging, type TestMessaging } from '../support/messaging.js'

let messaging: TestMessaging
beforeAll(async () => {
  messaging = await startTestMessaging()
})
afterAll(() => messaging.stop())

const publication = (id: string, changes: Partial<Publication['envelope']> = {}, target?: string): Publication => ({
  envelope: {
    messageId: id,
    kind: 'command',
    name: 'orders/place',
    body: JSON.stringify({ $name: 'orders/place', $version: 1, id }),
    correlationId: id,
    attributes: {},
    stickyAttributes: {},
    headers: {},
    sentAt: 1,
    ...changes,
  },
  delivery: { attempt: 1, ...(target !== undefined && { target }) },
})

describe('publishing to a real topic', () => {
  it('a batch of ten arrives, body and attributes as written', async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'ten', names: ['orders/place'] })
    const transport = snsTransport({ topicArn: messaging.topicArn, client: messaging.sns })
    const batch = Array.from({ length: 10 }, (_, index) => publication(`m${index}`))
    expect(await transport.publish(batch)).toEqual(batch.map(() => ({ outcome: 'published' })))
    const received = await messaging.drain(queueUrl, 10)
    expect(received.map(({ Body }) => Body).sort()).toEqual(batch.map(({ envelope }) => envelope.body).sort())
  })
})
