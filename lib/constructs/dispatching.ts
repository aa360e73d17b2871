import { Duration } from 'aws-cdk-lib'
import { EventSourceMapping, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { type DispatchMode, environmentVariables } from '../wiring/environment.js'
import { BundledFunctionConstruct } from './bundled-function.js'
import type { DelayedDeliveryProps } from './delivery-props.js'
import { grantKey } from './encryption.js'
import { dispatcherPermissions, grantOn, grantTable, type TablePermission, wakerPermissions } from './permissions.js'
import { createQueue } from './queues.js'
import { POLLING_ACTIONS, visibilityFor } from './receiving.js'

/** What dispatching functions work on. */
export interface DispatchedResources {
  readonly tableArn: string
  readonly topicArn: string
  /** The environment by which they find them. */
  readonly connection: Readonly<Record<string, string>>
}

/** The wake hints: their queue, its dead letters, and the function that answers. */
export interface Waking {
  readonly queue: Queue
  readonly deadLetters: Queue
  readonly waker: LambdaFunction
}

/** A turn stops 30 s before this, and hands over in the two minutes before that. */
const DISPATCHER_TIMEOUT = Duration.seconds(300)
const WAKER_TIMEOUT = Duration.seconds(30)
/** A hint is delayed by up to 129 s; an hour later its message has long gone out by another way. */
const HINT_RETENTION = Duration.hours(1)
/** SQS hands out hints that Lambda then throttles: a good one must not be called dead for that (aws-cdk #24180). */
const MOST_HINT_RECEIVES = 5
const MOST_WAKERS = 10

const createFunction = (
  scope: Construct,
  id: 'Dispatcher' | 'Waker',
  settings: {
    readonly description: string
    readonly timeout: Duration
    readonly permissions: readonly TablePermission[]
  },
  { tableArn, topicArn, connection }: DispatchedResources,
  props: DelayedDeliveryProps,
): LambdaFunction => {
  const { memorySize = 256, logRetention = RetentionDays.ONE_MONTH, encryptionKey } = props
  const mode: DispatchMode = props.mode ?? 'second'
  const { permissions, ...lambda } = settings
  const { function: fn } = new BundledFunctionConstruct(scope, id, id.toLowerCase(), {
    ...lambda,
    memorySize,
    logRetention,
    environment: { ...connection, [environmentVariables.mode]: mode },
  })
  grantOn(fn, topicArn, 'sns:Publish')
  grantTable(fn, tableArn, permissions)
  if (encryptionKey !== undefined) grantKey(fn, encryptionKey, 'send')
  return fn
}

/** Makes the function that publishes what is due. */
export const createDispatcher = (
  scope: Construct,
  resources: DispatchedResources,
  props: DelayedDeliveryProps,
): LambdaFunction => {
  const description = `Publishes the delayed messages of ${props.busName} when they are due`
  const settings = { description, timeout: DISPATCHER_TIMEOUT, permissions: dispatcherPermissions }
  return createFunction(scope, 'Dispatcher', settings, resources, props)
}

/** Makes the queue of wake hints, and the function that answers them while no dispatcher is awake. */
export const createWaking = (scope: Construct, resources: DispatchedResources, props: DelayedDeliveryProps): Waking => {
  const { encryptionKey } = props
  const deadLetters = createQueue(scope, 'HintDeadLetters', { encryptionKey })
  const queue = createQueue(scope, 'Hints', {
    encryptionKey,
    retentionPeriod: HINT_RETENTION,
    visibilityTimeout: visibilityFor(WAKER_TIMEOUT),
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: MOST_HINT_RECEIVES },
  })
  const description = `Publishes messages of ${props.busName} that are due within seconds while no dispatcher is awake`
  const settings = { description, timeout: WAKER_TIMEOUT, permissions: wakerPermissions }
  const waker = createFunction(scope, 'Waker', settings, resources, props)
  grantOn(waker, queue.queueArn, ...POLLING_ACTIONS)
  new EventSourceMapping(scope, 'HintSource', {
    target: waker,
    eventSourceArn: queue.queueArn,
    batchSize: 10,
    maxConcurrency: MOST_WAKERS,
    reportBatchItemFailures: true,
  })
  return { queue, deadLetters, waker }
}
