import type { SQSRecord } from 'aws-lambda'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LambdaRecord, readLambdaRecord, readSqsMessage } from '../../lib/sqs/record.js'

const lambdaRecord: SQSRecord = {
  messageId: 'r1',
  receiptHandle: 'handle',
  body: '{"$name":"orders/place"}',
  attributes: {
    ApproximateReceiveCount: '1',
    SentTimestamp: '1',
    SenderId: 'me',
    ApproximateFirstReceiveTimestamp: '1',
  },
  messageAttributes: {
    messageId: { stringValue: 'm1', dataType: 'String' },
    weight: { stringValue: '12', dataType: 'Number' },
    picture: { binaryValue: 'AAAA', dataType: 'Binary' },
  },
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:eu-west-1:123456789012:billing',
  awsRegion: 'eu-west-1',
}

const notification = (MessageAttributes: unknown, Message: unknown = '{"$name":"orders/place"}') =>
  JSON.stringify({ Type: 'Notification', MessageId: 'sns', TopicArn: 'arn', Message, MessageAttributes })

describe('a record of Lambda', () => {
  it('gives its body untouched and the attributes that are text', () => {
    expect(readLambdaRecord(lambdaRecord)).toEqual({
      recordId: 'r1',
      body: '{"$name":"orders/place"}',
      attributes: { messageId: 'm1', weight: '12' },
    })
  })
})

describe('a message of the SDK', () => {
  it('gives its body untouched and the attributes that are text', () => {
    expect(
      readSqsMessage({
        MessageId: 'r2',
        Body: '{}',
        MessageAttributes: {
          kind: { DataType: 'String', StringValue: 'event' },
          bytes: { DataType: 'Binary', BinaryValue: new Uint8Array([1]) },
        },
      }),
    ).toEqual({ recordId: 'r2', body: '{}', attributes: { kind: 'event' } })
  })
})

describe('a notification of a subscription without raw delivery', () => {
  it('is unwrapped, with the attributes that are text', () => {
    const body = notification({ messageId: { Type: 'String', Value: 'm1' }, bytes: { Type: 'Binary', Value: 'AAAA' } })
    for (const record of [
      readLambdaRecord({ messageId: 'r3', body, messageAttributes: {} }),
      readSqsMessage({ MessageId: 'r3', Body: body }),
    ])
      expect(record).toEqual({ recordId: 'r3', body: '{"$name":"orders/place"}', attributes: { messageId: 'm1' } })
  })

  it('without attributes is unwrapped too', () => {
    expect(readSqsMessage({ MessageId: 'r', Body: notification(undefined) })).toEqual({
      recordId: 'r',
      body: '{"$name":"orders/place"}',
      attributes: {},
    })
  })

  it('is not taken for one when it came raw: a message may look like it', () => {
    const body = notification({})
    const attributes = { messageId: { DataType: 'String', StringValue: 'm1' } }
    expect(readSqsMessage({ MessageId: 'r', Body: body, MessageAttributes: attributes }).body).toBe(body)
  })

  it.each([
    '{"Type":"Notification"',
    '{"Type":"Notification"}',
    '["Notification"]',
    '"Notification"',
    notification({}, 5),
  ])('is not taken for one when it is %s', (body) => {
    expect(readSqsMessage({ MessageId: 'r', Body: body })).toEqual({ recordId: 'r', body, attributes: {} })
  })
})

describe('a malformed record', () => {
  it('never throws, whatever it is', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (messageId, body, messageAttributes) => {
        const record = readLambdaRecord({ messageId, body, messageAttributes } as unknown as LambdaRecord)
        expect(typeof record.recordId).toBe('string')
        expect(typeof record.body).toBe('string')
        expect(Object.values(record.attributes).every((value) => typeof value === 'string')).toBe(true)
      }),
    )
    fc.assert(
      fc.property(fc.json(), fc.json(), (Message, MessageAttributes) => {
        const Body = `{"Type":"Notification","Message":${Message},"MessageAttributes":${MessageAttributes}}`
        expect(typeof readSqsMessage({ MessageId: 'r', Body }).body).toBe('string')
      }),
    )
  })
})
