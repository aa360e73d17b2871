import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { CfnSubscription, type ITopic } from 'aws-cdk-lib/aws-sns'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'

/** Lets one topic send to a queue, and no other. Without it SNS can't deliver: then messages are in the subscription's dead letters. */
const allowTopic = (queue: Queue, topic: ITopic): void => {
  queue.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('sns.amazonaws.com')],
      actions: ['sqs:SendMessage'],
      resources: [queue.queueArn],
      conditions: { ArnEquals: { 'aws:SourceArn': topic.topicArn } },
    }),
  )
}

/**
 * Subscribes a queue to a topic: raw, so that the body is the message and nothing else; filtered on `route` alone; with
 * dead letters of its own for what SNS could not deliver.
 * @see https://docs.aws.amazon.com/sns/latest/dg/sns-dead-letter-queues.html
 */
export const subscribe = (
  scope: Construct,
  id: string,
  parts: { readonly topic: ITopic; readonly queue: Queue; readonly deadLetters: Queue; readonly filter: unknown },
): CfnSubscription => {
  const { topic, queue, deadLetters, filter } = parts
  allowTopic(queue, topic)
  allowTopic(deadLetters, topic)
  const subscription = new CfnSubscription(scope, id, {
    topicArn: topic.topicArn,
    protocol: 'sqs',
    endpoint: queue.queueArn,
    rawMessageDelivery: true,
    filterPolicy: filter,
    redrivePolicy: { deadLetterTargetArn: deadLetters.queueArn },
  })
  // A message that comes before the queues' policies are there could not be delivered, nor kept.
  subscription.node.addDependency(queue, deadLetters)
  return subscription
}
