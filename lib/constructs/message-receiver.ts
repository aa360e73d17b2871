import { createHash } from 'node:crypto'
import { Duration, Token } from 'aws-cdk-lib'
import type { IAlarmAction } from 'aws-cdk-lib/aws-cloudwatch'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { EventSourceMapping, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { environmentVariables, formatNames } from '../wiring/environment.js'
import { alarmMaker } from './alarms.js'
import type { DeliveryConstruct } from './delivery-construct.js'
import { grantKey } from './encryption.js'
import { grantOn } from './permissions.js'
import { createQueue } from './queues.js'
import { POLLING_ACTIONS, visibilityFor } from './receiving.js'
import { checkName, refuseProps } from './refuse-props.js'
import { type MessageName, namesOf } from './routes.js'
import { subscribe } from './subscription.js'

/** How a receiver is made. */
export interface MessageReceiverProps {
  /** Where its messages come from. */
  readonly delivery: DeliveryConstruct
  /**
   * Stable: part of the ids of what its handlers send, and of the route of its redeliveries; the same as in
   * `createReceiver`. 1 to 64 letters, digits, `_` and `-`.
   */
  readonly name: string
  /** The function that `createReceiver` made the handler of. It gets permissions and environment, to send as well. */
  readonly handler: LambdaFunction
  /** The messages it takes, 1 to 149: names, or the definitions that `defineCommand` and `defineEvent` made. */
  readonly messages: readonly MessageName[]
  /** How many records one call gets, from 1 to 10. @default 10 */
  readonly batchSize?: number
  /** How many calls run at once, from 2 to 1,000; fewer is not possible without throttling what was received. @default 10 */
  readonly maxConcurrency?: number
  /** After how many receives a record goes to the dead letters, from 5: throttling counts as one. @default 5 */
  readonly maxReceiveCount?: number
  /** How long a received record is hidden, no less than the function's time-out. @default six times that */
  readonly visibilityTimeout?: Duration
  /** Another key than the delivery's for the queues. @default the delivery's, if it has one */
  readonly encryptionKey?: IKey
  /** Whether alarms are made, three of them. @default true */
  readonly alarms?: boolean
  /** What rings when an alarm goes off. @default the delivery's actions */
  readonly alarmActions?: readonly IAlarmAction[]
}

/** Lambda's own default. */
const DEFAULT_TIMEOUT = Duration.seconds(3)
const LEAST_RECEIVES = 5

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const checkInteger = (scope: Construct, what: string, value: number, least: number, most: number): number => {
  if (Token.isUnresolved(value) || (Number.isInteger(value) && value >= least && value <= most)) return value
  throw refuseProps(scope, `${what} is ${value}; it must be an integer from ${least} to ${most}`)
}

/** Which receiver a function is: its environment names one. */
const receiverOf = new WeakMap<LambdaFunction, MessageReceiver>()

/**
 * A queue subscribed to messages, and the function that handles them. Records that fail come again on their own, and go to
 * the dead letters when they are given up on or came too often; what SNS could not deliver goes to dead letters of the
 * subscription's own.
 * @example
 * new MessageReceiver(this, 'Billing', { delivery, name: 'billing', handler: billingFunction, messages: [PlaceOrder, CancelOrder] })
 */
export class MessageReceiver extends Construct {
  /** Holds what is to be handled. */
  readonly queue: Queue
  /** Records that the receiver gave up on, with the reason, and such that came too often. */
  readonly deadLetterQueue: Queue
  /** Messages that SNS could not deliver to the queue. */
  readonly subscriptionDeadLetterQueue: Queue

  constructor(scope: Construct, id: string, props: MessageReceiverProps) {
    super(scope, id)
    const { delivery, handler, messages } = props
    const name = checkName(this, 'receiver name', props.name)
    const other = receiverOf.get(handler)
    if (other !== undefined)
      throw refuseProps(
        this,
        `its function is the receiver ${other.node.path} already; a function has one receiver in its environment`,
      )
    receiverOf.set(handler, this)
    const encryptionKey = props.encryptionKey ?? delivery.encryptionKey
    const routes = delivery.registerReceiver({ name, messages }, props.encryptionKey)
    this.deadLetterQueue = createQueue(this, 'DeadLetters', { encryptionKey })
    this.queue = createQueue(this, 'Queue', {
      encryptionKey,
      visibilityTimeout: this.visibilityOf(props),
      deadLetterQueue: {
        queue: this.deadLetterQueue,
        maxReceiveCount: checkInteger(
          this,
          'maxReceiveCount',
          props.maxReceiveCount ?? LEAST_RECEIVES,
          LEAST_RECEIVES,
          1_000,
        ),
      },
    })
    this.subscriptionDeadLetterQueue = createQueue(this, 'SubscriptionDeadLetters', { encryptionKey })
    subscribe(this, 'Subscription', {
      topic: delivery.topic,
      queue: this.queue,
      deadLetters: this.subscriptionDeadLetterQueue,
      filter: { route: routes },
    })
    this.connect(props, encryptionKey)
    if (props.alarms ?? true) this.watch(props)
  }

  private visibilityOf({ handler, visibilityTimeout }: MessageReceiverProps): Duration {
    const timeout = handler.timeout ?? DEFAULT_TIMEOUT
    if (visibilityTimeout === undefined) return visibilityFor(timeout)
    if (visibilityTimeout.toSeconds() >= timeout.toSeconds()) return visibilityTimeout
    const rule = `less than the function's time-out of ${timeout.toSeconds()} s: records would come again while they are handled`
    throw refuseProps(this, `visibilityTimeout is ${visibilityTimeout.toSeconds()} s, ${rule}`)
  }

  private connect({ delivery, name, handler, messages, ...props }: MessageReceiverProps, key: IKey | undefined): void {
    delivery.connect(handler)
    handler.addEnvironment(environmentVariables.receiverName, name)
    handler.addEnvironment(environmentVariables.subscribedNames, formatNames(namesOf(this, messages), sha256))
    // What the receiver gives up on it sends there itself, with the reason.
    handler.addEnvironment(environmentVariables.deadLetterQueueUrl, this.deadLetterQueue.queueUrl)
    grantOn(handler, this.queue.queueArn, ...POLLING_ACTIONS)
    grantOn(handler, this.deadLetterQueue.queueArn, 'sqs:SendMessage')
    if (key !== undefined) grantKey(handler, key, 'enqueue')
    new EventSourceMapping(this, 'Source', {
      target: handler,
      eventSourceArn: this.queue.queueArn,
      batchSize: checkInteger(this, 'batchSize', props.batchSize ?? 10, 1, 10),
      maxConcurrency: checkInteger(this, 'maxConcurrency', props.maxConcurrency ?? 10, 2, 1_000),
      reportBatchItemFailures: true,
    })
  }

  private watch({ delivery, name, handler, alarmActions = delivery.alarmActions }: MessageReceiverProps): void {
    const alarms = alarmMaker(this, alarmActions)
    alarms.notEmpty('ReceiverDeadLetters', this.deadLetterQueue, `Messages failed for good at the receiver ${name}.`)
    alarms.notEmpty(
      'SubscriptionDeadLetters',
      this.subscriptionDeadLetterQueue,
      `SNS could not deliver to the queue of the receiver ${name}.`,
    )
    alarms.failing(
      'ReceiverFails',
      handler,
      `The function of the receiver ${name} crashes, times out or does not start.`,
    )
  }
}
