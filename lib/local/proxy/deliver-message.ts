import { randomUUID } from 'node:crypto'
import type { AccessCheck } from '../access/check-access.js'
import type { Queue } from '../deploy/make-queues.js'
import type { Subscription, Topic } from '../deploy/make-topics.js'
import type { Delivery, QueueClient } from '../deploy/queue-client.js'
import type { MetricRecorder } from '../metrics/record-metrics.js'
import { MOST_ATTRIBUTES } from './message-rules.js'
import type { PublishEntry } from './publish-form.js'

/** What deliveries need. */
export interface DeliverySettings {
  readonly client: QueueClient
  readonly access: AccessCheck
  readonly metrics: MetricRecorder
  /** Gets a line for each delivery that failed. */
  readonly onLine: (line: string) => void
}

/** A published message with its id. */
export interface PublishedMessage extends PublishEntry {
  readonly messageId: string
}

/** The message in the envelope of SNS, for subscriptions without raw delivery. @see https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html */
const wrap = (message: PublishedMessage, topic: Topic, subscription: Subscription): string =>
  JSON.stringify({
    Type: 'Notification',
    MessageId: message.messageId,
    TopicArn: topic.arn,
    ...(message.subject !== undefined && { Subject: message.subject }),
    Message: message.body,
    Timestamp: new Date().toISOString(),
    SignatureVersion: '1',
    Signature: 'LOCAL',
    SigningCertURL: 'https://sns.local/certificate.pem',
    UnsubscribeURL: `https://sns.local/?Action=Unsubscribe&SubscriptionArn=${subscription.arn}`,
    ...(Object.keys(message.attributes).length > 0 && {
      MessageAttributes: Object.fromEntries(
        Object.entries(message.attributes).map(([name, { DataType, StringValue, BinaryValue }]) => [
          name,
          { Type: DataType, Value: StringValue ?? BinaryValue },
        ]),
      ),
    }),
  })

/**
 * Delivers messages of a topic to the queues that are subscribed, as SNS does: what can't be delivered goes to the
 * subscription's dead-letter queue, and without one it is gone.
 * @returns delivers messages (ten at most) to all subscriptions, and answers their ids; a queue that refuses is no error.
 */
export const makeDeliveries = ({ client, access, metrics, onLine }: DeliverySettings) => {
  const count = (topic: Topic, name: string) =>
    metrics.record({ namespace: 'AWS/SNS', name, dimensions: { TopicName: topic.name }, value: 1 })

  /** Why the topic may not send to the queue: its policy, or that of its key. */
  const obstacle = async (topic: Topic, queue: Queue): Promise<string | undefined> => {
    const denial = await access.asService('sns.amazonaws.com', topic.arn, {
      action: 'sqs:SendMessage',
      resource: queue.arn,
    })
    return denial?.message
  }

  /** Why the queue did not take each of them, such as its own limit of size; `undefined` where it did. */
  const trySend = (queue: Queue, deliveries: readonly Delivery[]): Promise<readonly (string | undefined)[]> =>
    client.sendAll(queue.emulatorUrl, deliveries).catch((error: Error) => deliveries.map(() => error.message))

  const redrive = async (
    topic: Topic,
    { deadLetterQueue: queue, path }: Subscription,
    delivery: Delivery,
    reason: string,
  ) => {
    count(topic, 'NumberOfNotificationsFailed')
    const refused =
      queue === undefined
        ? 'it has no dead-letter queue'
        : ((await obstacle(topic, queue)) ?? (await trySend(queue, [delivery]))[0])
    if (refused === undefined) {
      count(topic, 'NumberOfNotificationsRedrivenToDlq')
      onLine(`${path} could not deliver, and the message went to its dead-letter queue: ${reason}`)
    } else {
      if (queue !== undefined) count(topic, 'NumberOfNotificationsFailedToRedriveToDlq')
      onLine(`${path} could not deliver, and the message is lost: ${reason}; ${refused}`)
    }
  }

  /** The messages that a subscription takes, as they are delivered. */
  const prepare = (
    messages: readonly PublishedMessage[],
    topic: Topic,
    subscription: Subscription,
  ): readonly Delivery[] =>
    messages.flatMap((message) => {
      const { raw, filter, path } = subscription
      if (filter !== undefined && !filter.matches(message.attributes)) {
        count(topic, 'NumberOfNotificationsFilteredOut')
        return []
      }
      const attributeCount = Object.keys(message.attributes).length
      // https://docs.aws.amazon.com/sns/latest/dg/sns-message-attributes.html: "discarded as client side errors"
      if (raw && attributeCount > MOST_ATTRIBUTES) {
        count(topic, 'NumberOfNotificationsFailed')
        onLine(`${path} discarded a message with ${attributeCount} attributes: raw delivery has room for 10`)
        return []
      }
      return raw
        ? { body: message.body, attributes: message.attributes }
        : { body: wrap(message, topic, subscription), attributes: {} }
    })

  const deliver = async (messages: readonly PublishedMessage[], topic: Topic, subscription: Subscription) => {
    const deliveries = prepare(messages, topic, subscription)
    if (deliveries.length === 0) return
    const refused = await obstacle(topic, subscription.queue)
    const reasons =
      refused === undefined ? await trySend(subscription.queue, deliveries) : deliveries.map(() => refused)
    for (const [place, delivery] of deliveries.entries()) {
      const reason = reasons[place]
      if (reason === undefined) count(topic, 'NumberOfNotificationsDelivered')
      else await redrive(topic, subscription, delivery, reason)
    }
  }

  return async (entries: readonly PublishEntry[], topic: Topic): Promise<readonly string[]> => {
    const messages = entries.map((entry) => ({ ...entry, messageId: randomUUID() }))
    for (const _ of messages) count(topic, 'NumberOfMessagesPublished')
    await Promise.all(topic.subscriptions.map((subscription) => deliver(messages, topic, subscription)))
    return messages.map(({ messageId }) => messageId)
  }
}
