import type { EmulatorCalls } from './call-emulator.js'
import { fromEmulatorBody, md5Of, toEmulatorBody } from './emulator-body.js'

/** An attribute of a message, as SQS carries it. */
export interface MessageAttribute {
  readonly DataType: string
  readonly StringValue?: string
  readonly BinaryValue?: string
}

/** A message as a queue hands it out. */
export interface ReceivedMessage {
  readonly MessageId: string
  readonly ReceiptHandle: string
  readonly Body: string
  readonly MD5OfBody: string
  readonly Attributes?: Readonly<Record<string, string>>
  readonly MessageAttributes?: Readonly<Record<string, MessageAttribute>>
  readonly MD5OfMessageAttributes?: string
}

/** What is put into a queue. */
export interface Delivery {
  readonly body: string
  readonly attributes: Readonly<Record<string, MessageAttribute>>
}

/** What services of the cloud do with queues, on their own behalf. */
export interface QueueClient {
  /** Takes up to ten messages, waiting for the first. @throws when the cloud stops */
  receive(emulatorUrl: string, most: number, waitSeconds: number): Promise<readonly ReceivedMessage[]>
  remove(emulatorUrl: string, messages: readonly ReceivedMessage[]): Promise<void>
  send(emulatorUrl: string, body: string, attributes?: Readonly<Record<string, MessageAttribute>>): Promise<void>
  /** Sends up to ten messages; answers for each why the queue did not take it, `undefined` where it did. */
  sendAll(emulatorUrl: string, deliveries: readonly Delivery[]): Promise<readonly (string | undefined)[]>
  /** How many messages wait visibly. */
  countVisible(emulatorUrl: string): Promise<number>
}

/** A message with the body that was sent. */
export const asSent = (message: ReceivedMessage): ReceivedMessage => {
  const body = fromEmulatorBody(message.Body)
  return body === message.Body ? message : { ...message, Body: body, MD5OfBody: md5Of(body) }
}

/** Makes the client of the services. */
export const makeQueueClient = ({ json }: EmulatorCalls): QueueClient => ({
  receive: async (emulatorUrl, most, waitSeconds) => {
    const { Messages: messages = [] } = (await json('AmazonSQS.ReceiveMessage', {
      QueueUrl: emulatorUrl,
      MaxNumberOfMessages: most,
      WaitTimeSeconds: waitSeconds,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    })) as { Messages?: readonly ReceivedMessage[] }
    return messages.map(asSent)
  },
  remove: async (emulatorUrl, messages) => {
    for (let start = 0; start < messages.length; start += 10)
      await json('AmazonSQS.DeleteMessageBatch', {
        QueueUrl: emulatorUrl,
        Entries: messages
          .slice(start, start + 10)
          .map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      })
  },
  send: async (emulatorUrl, body, attributes = {}) => {
    await json('AmazonSQS.SendMessage', {
      QueueUrl: emulatorUrl,
      MessageBody: toEmulatorBody(body),
      MessageAttributes: attributes,
    })
  },
  sendAll: async (emulatorUrl, deliveries) => {
    const { Failed: failed = [] } = (await json('AmazonSQS.SendMessageBatch', {
      QueueUrl: emulatorUrl,
      Entries: deliveries.map(({ body, attributes }, place) => ({
        Id: String(place),
        MessageBody: toEmulatorBody(body),
        MessageAttributes: attributes,
      })),
    })) as { Failed?: readonly { Id: string; Message: string }[] }
    const reasons = new Map(failed.map(({ Id, Message }) => [Id, Message]))
    return deliveries.map((_, place) => reasons.get(String(place)))
  },
  countVisible: async (emulatorUrl) => {
    const { Attributes: attributes } = (await json('AmazonSQS.GetQueueAttributes', {
      QueueUrl: emulatorUrl,
      AttributeNames: ['ApproximateNumberOfMessages'],
    })) as { Attributes: Record<string, string> }
    return Number(attributes.ApproximateNumberOfMessages)
  },
})
