import { Duration } from 'aws-cdk-lib'
import type { IAlarmAction } from 'aws-cdk-lib/aws-cloudwatch'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { Topic } from 'aws-cdk-lib/aws-sns'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { createDashboard } from './dashboard.js'
import { connectionOf, type DelayedDeliveryAttributes, DeliveryConstruct } from './delivery-construct.js'
import type { DelayedDeliveryProps } from './delivery-props.js'
import { createTable } from './delivery-table.js'
import { describeDelivery } from './describe-delivery.js'
import { createDispatcher, createWaking } from './dispatching.js'
import { allowDelivery } from './encryption.js'
import { ImportedDeliveryConstruct } from './imported-delivery.js'
import { checkMemory, checkMode, checkName, checkShards } from './refuse-props.js'
import { createTick } from './tick.js'
import { createUnrouted } from './unrouted.js'
import { watchDelivery } from './watch-delivery.js'

/**
 * Delayed delivery for Lambdas: a table that keeps what waits, a topic that carries what is due, and the functions, the
 * schedule and the alarms that see to it.
 * @example
 * const delivery = new DelayedDelivery(this, 'Delivery', { busName: 'orders' })
 * delivery.connect(ordersFunction)
 * new MessageReceiver(this, 'Billing', { delivery, name: 'billing', handler: billingFunction, messages: [PlaceOrder] })
 */
export class DelayedDelivery extends DeliveryConstruct {
  /**
   * A delivery that another stack of the same account and region made, to send through it or to receive from it.
   * @param attributes what its `attributes` say there
   * @example
   * const delivery = DelayedDelivery.fromAttributes(this, 'Delivery', ordersStack.delivery.attributes)
   * delivery.connect(fn)
   */
  static fromAttributes(scope: Construct, id: string, attributes: DelayedDeliveryAttributes): DeliveryConstruct {
    return new ImportedDeliveryConstruct(scope, id, attributes)
  }

  readonly attributes: DelayedDeliveryAttributes
  readonly topic: Topic
  readonly encryptionKey: IKey | undefined
  readonly alarmActions: readonly IAlarmAction[]
  /** Keeps what waits. */
  readonly table: Table
  /** Publishes what is due; called once a minute. */
  readonly dispatcher: LambdaFunction
  /** Publishes what falls due within seconds while no dispatcher is awake; none in the mode `minute`. */
  readonly waker: LambdaFunction | undefined
  /** Messages that no receiver takes, if they are looked for. */
  readonly unroutedQueue: Queue | undefined
  protected readonly tableArn: string

  constructor(scope: Construct, id: string, props: DelayedDeliveryProps) {
    super(scope, id)
    const { encryptionKey } = props
    const mode = checkMode(this, props.mode ?? 'second')
    if (props.memorySize !== undefined) checkMemory(this, props.memorySize)
    this.alarmActions = props.alarmActions ?? []
    this.encryptionKey = encryptionKey
    if (encryptionKey !== undefined) allowDelivery(this, encryptionKey)
    this.table = createTable(this, props)
    this.tableArn = this.table.tableArn
    const masterKey = encryptionKey === undefined ? {} : { masterKey: encryptionKey }
    this.topic = new Topic(this, 'Topic', { enforceSSL: true, ...masterKey })
    const own: DelayedDeliveryAttributes = {
      busName: checkName(this, 'busName', props.busName),
      tableName: this.table.tableName,
      topicArn: this.topic.topicArn,
      ...(encryptionKey !== undefined && { encryptionKeyArn: encryptionKey.keyArn }),
      ...(props.writeShards !== undefined && { writeShards: checkShards(this, props.writeShards) }),
    }
    const resources = { ...own, tableArn: this.tableArn, connection: connectionOf(own) }
    this.dispatcher = createDispatcher(this, resources, props)
    const waking = mode === 'second' ? createWaking(this, resources, props) : undefined
    this.waker = waking?.waker
    const hints = waking && { queueArn: waking.queue.queueArn, queueUrl: waking.queue.queueUrl }
    this.attributes = { ...own, ...(hints && { wakeQueue: hints }) }
    const tickDeadLetters = createTick(this, this.dispatcher, encryptionKey)
    for (const receiver of props.receiversElsewhere ?? []) this.registerReceiver(receiver)
    const looksForUnrouted = props.unrouted ?? true
    const unrouted = looksForUnrouted
      ? createUnrouted(this, this.topic, encryptionKey, () => this.knownRoutes)
      : undefined
    this.unroutedQueue = unrouted?.queue
    describeDelivery(this, {
      ...{ busName: own.busName, mode, tableName: own.tableName, topicArn: own.topicArn },
      ...(hints && { wakeQueueUrl: hints.queueUrl }),
      ...(unrouted && { unroutedQueueUrl: unrouted.queue.queueUrl }),
    })
    if (props.alarms ?? true)
      watchDelivery(this, {
        dispatcher: this.dispatcher,
        tickDeadLetters,
        hintDeadLetters: waking?.deadLetters,
        unrouted,
        backlogAgeThreshold: props.backlogAgeThreshold ?? Duration.minutes(mode === 'second' ? 1 : 5),
      })
    if (props.dashboard ?? false) createDashboard(this)
  }
}
