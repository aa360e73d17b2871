import { Validations } from 'aws-cdk-lib'
import type { DelayedDelivery } from '../lib/constructs/delayed-delivery.js'
import type { MessageReceiver } from '../lib/constructs/message-receiver.js'

const NO_DEAD_LETTERS = 'AwsSolutions::AwsSolutions-SQS3'

/** Acknowledges what cdk-nag finds in the example, each with the reason why it is as it should be. */
export const acknowledgeFindings = (delivery: DelayedDelivery, receiver: MessageReceiver): void => {
  // cdk-nag knows a dead-letter queue by the queues that name it, and looks at no schedule and no subscription.
  const reasons = [
    [delivery.node.findChild('TickDeadLetters'), 'it is the dead-letter queue of the schedule'],
    [
      delivery.node.findChild('Unrouted'),
      'it is where messages end that no receiver takes; nothing reads it but people',
    ],
    [delivery.node.findChild('UnroutedDeadLetters'), 'it is the dead-letter queue of a subscription'],
    [receiver.subscriptionDeadLetterQueue, 'it is the dead-letter queue of a subscription'],
  ] as const
  for (const [queue, reason] of reasons) Validations.of(queue).acknowledge({ id: NO_DEAD_LETTERS, reason })
}
