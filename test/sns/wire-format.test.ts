import { readFile } from 'node:fs/promises'
import { PublishCommand } from '@aws-sdk/client-sns'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Envelope } from '../../lib/core/envelope.js'
import { toDeadLetterWire } from '../../lib/core/redelivery/dead-letter.js'
import { fromWire, toWire } from '../../lib/core/wire.js'
import { readSqsMessage } from '../../lib/sqs/record.js'
import { startTestMessaging, type TestMessaging } from '../support/messaging.js'

let page: string
let messaging: TestMessaging
beforeAll(async () => {
  page = await readFile(new URL('../../docs/reference/wire-format.md', import.meta.url), 'utf8')
  messaging = await startTestMessaging()
})
afterAll(() => messaging.stop())

/** The code blocks of a language within a section of the page. */
const blocksOf = (section: string, language: string): string[] => {
  const text = page.split(/^## /m).find((one) => one.startsWith(section)) ?? ''
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, code = '']) =>
    code.trim(),
  )
}

/** The words in the first column of a section's tables. */
const firstColumnOf = (section: string): string[] => {
  const text = page.split(/^## /m).find((one) => one.startsWith(section)) ?? ''
  return [...text.matchAll(/^\| `(\w+)` \|/gm)].map(([, word = '']) => word)
}

const envelope: Envelope = {
  messageId: '9f1c2a34-7b1e-4c55-8d0a-1f2e3d4c5b6a',
  kind: 'command',
  name: 'orders/remind-payment',
  body: '{"$name":"orders/remind-payment","$version":1,"orderId":"42","note":""}',
  correlationId: 'checkout-42',
  attributes: { priority: 0, express: false },
  stickyAttributes: { tenant: 'acme' },
  headers: { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
  sentAt: 1_735_689_600_000,
}

describe('the page about the wire format', () => {
  it('shows a message as it is written', () => {
    const [body, attributes = '', redelivery = ''] = blocksOf('An example', 'json')
    const first = toWire(envelope, { dueAt: 1_735_948_800_000, attempt: 1 })
    expect(body).toBe(first.body)
    expect(JSON.parse(attributes)).toEqual(first.attributes)
    const second = toWire(envelope, { dueAt: 1_735_948_860_000, attempt: 2, target: 'billing' })
    expect({ ...first.attributes, ...JSON.parse(redelivery) }).toEqual(second.attributes)
  })

  it('lists every attribute and every property of delivery, and no other', () => {
    const { attributes } = toWire({ ...envelope, key: 'invoice-17', failure: { count: 1 } }, { dueAt: 1, attempt: 2 })
    const listed = [...Object.keys(attributes), ...Object.keys(JSON.parse(attributes.delivery ?? ''))]
    expect(firstColumnOf('Attributes').sort()).toEqual(listed.sort())
  })

  it('shows a dead letter as it is written', () => {
    const [example = ''] = blocksOf('Dead letters', 'json')
    const wire = toWire(envelope, { attempt: 2, target: 'billing' })
    const about = { receiver: 'billing', reason: 'rejected: the order was cancelled', attempt: 2 }
    const letter = { ...about, record: { recordId: 'r', ...wire }, diedAt: 1_735_948_860_000 }
    expect(toDeadLetterWire(letter, 262_144, 'dead')).toEqual({
      body: wire.body,
      attributes: { ...wire.attributes, ...JSON.parse(example) },
    })
    expect(firstColumnOf('Dead letters')).toEqual(['deadLetter'])
  })

  it("has a sender's example that arrives and is read as a message", async () => {
    const { queueUrl } = await messaging.addQueue({ receiver: 'foreign', names: ['orders/place'] })
    const [command = ''] = blocksOf('Senders', 'sh')
    const [, Message = ''] = /--message '(.*)'/.exec(command) ?? []
    const [, attributes = ''] = /--message-attributes '([\s\S]*)'/.exec(command) ?? []
    await messaging.sns.send(
      new PublishCommand({ TopicArn: messaging.topicArn, Message, MessageAttributes: JSON.parse(attributes) }),
    )
    const [message = {}] = await messaging.drain(queueUrl, 1)
    const id = '3b0c54a2-51f7-4f0e-9a52-0e6f2f6f8a11'
    expect(fromWire(readSqsMessage(message))).toEqual({
      envelope: {
        messageId: id,
        kind: 'command',
        name: 'orders/place',
        body: '{"$name":"orders/place","$version":1,"orderId":"42"}',
        correlationId: id,
        attributes: {},
        stickyAttributes: {},
        headers: {},
        sentAt: 0,
      },
      delivery: { attempt: 1 },
    })
  })

  it('has a filter that lets through what it says', () => {
    const [filter = ''] = blocksOf('Consumers', 'json')
    expect(JSON.parse(filter).route).toContain(toWire(envelope, { attempt: 1 }).attributes.route)
    expect(JSON.parse(filter).route).toContain(toWire(envelope, { attempt: 2, target: 'billing' }).attributes.route)
  })
})
