import type { ReceivedMessage } from '../deploy/queue-client.js'

const attributesOf = (message: ReceivedMessage) =>
  Object.fromEntries(
    Object.entries(message.MessageAttributes ?? {}).map(([name, attribute]) => [
      name,
      {
        ...(attribute.StringValue !== undefined && { stringValue: attribute.StringValue }),
        ...(attribute.BinaryValue !== undefined && { binaryValue: attribute.BinaryValue }),
        stringListValues: [],
        binaryListValues: [],
        dataType: attribute.DataType,
      },
    ]),
  )

/** The event of a batch of messages. @see https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html */
export const makeQueueEvent = (messages: readonly ReceivedMessage[], queueArn: string): string =>
  JSON.stringify({
    Records: messages.map((message) => ({
      messageId: message.MessageId,
      receiptHandle: message.ReceiptHandle,
      body: message.Body,
      attributes: message.Attributes ?? {},
      messageAttributes: attributesOf(message),
      md5OfBody: message.MD5OfBody,
      ...(message.MD5OfMessageAttributes !== undefined && { md5OfMessageAttributes: message.MD5OfMessageAttributes }),
      eventSource: 'aws:sqs',
      eventSourceARN: queueArn,
      awsRegion: queueArn.split(':')[3],
    })),
  })
