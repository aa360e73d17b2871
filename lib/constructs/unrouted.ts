import { Lazy } from 'aws-cdk-lib'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { createQueue } from './queues.js'
import { MOST_ROUTES } from './routes.js'
import { subscribe } from './subscription.js'

/** The queue of messages that no receiver takes, and the dead letters of its subscription. */
export interface Unrouted {
  readonly queue: Queue
  readonly deadLetters: Queue
}

/**
 * Subscribes a queue to whatever no known receiver takes: a filter on every route but theirs. SNS itself tells nobody of a
 * message that no filter lets through. The filter is written when the app is synthesized, since receivers come later.
 * @param routes all that receivers are known to take, at the time of the call
 */
export const createUnrouted = (
  scope: Construct,
  topic: ITopic,
  encryptionKey: IKey | undefined,
  routes: () => readonly string[],
): Unrouted => {
  const queue = createQueue(scope, 'Unrouted', { encryptionKey })
  const deadLetters = createQueue(scope, 'UnroutedDeadLetters', { encryptionKey })
  const filter = Lazy.any({
    produce: () => ({
      // Whoever publishes past the bus may have given no route at all: no receiver takes that, either.
      route: [routes().length === 0 ? { exists: true } : { 'anything-but': [...routes()] }, { exists: false }],
    }),
  })
  subscribe(scope, 'UnroutedSubscription', { topic, queue, deadLetters, filter })
  scope.node.addValidation({
    validate: () =>
      routes().length < MOST_ROUTES
        ? []
        : [
            `receivers take ${routes().length} routes, and the filter that finds what none of them takes holds at most ${MOST_ROUTES - 1}: set unrouted to false, or use fewer names`,
          ],
  })
  return { queue, deadLetters }
}
