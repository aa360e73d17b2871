import type { IAlarmAction, Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch'
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import { environmentVariables } from '../wiring/environment.js'
import { allowDelivery, grantKey } from './encryption.js'
import { deliveryMetric } from './metrics.js'
import {
  combineGrants,
  grantOn,
  grantTable,
  inboxPermissions,
  managePermissions,
  recallPermissions,
  senderPermissions,
} from './permissions.js'
import { refuseProps } from './refuse-props.js'
import { type ReceiverRoutes, routesOf } from './routes.js'

/** All that another stack needs to know of a delivery: give it to `DelayedDelivery.fromAttributes`. */
export interface DelayedDeliveryAttributes {
  /** The bus's name. */
  readonly busName: string
  readonly tableName: string
  readonly topicArn: string
  /** The queue of wake hints. @default none: dispatching is precise to the minute */
  readonly wakeQueue?: { readonly queueArn: string; readonly queueUrl: string }
  /** The customer's key that encrypts table, topic and queues. @default none */
  readonly encryptionKeyArn?: string
  /** How many slices senders spread the rows over. @default 8 */
  readonly writeShards?: number
}

/** The environment of a function that is connected to a delivery. */
export const connectionOf = (attributes: DelayedDeliveryAttributes): Readonly<Record<string, string>> => {
  const { busName, tableName, topicArn, wakeQueue, writeShards } = attributes
  return {
    [environmentVariables.busName]: busName,
    [environmentVariables.tableName]: tableName,
    [environmentVariables.topicArn]: topicArn,
    ...(wakeQueue !== undefined && { [environmentVariables.wakeQueueUrl]: wakeQueue.queueUrl }),
    ...(writeShards !== undefined && { [environmentVariables.writeShards]: String(writeShards) }),
  }
}

/** What a connected function may do besides sending. */
export interface ConnectOptions {
  /** Take messages back, move them, and send under keys. @default false */
  readonly recall?: boolean
  /** What operators do; includes `recall`. @default false */
  readonly manage?: boolean
  /** Keep an inbox in the table. @default false */
  readonly inbox?: boolean
}

/** Which delivery a function is connected to: its environment names one. */
const connections = new WeakMap<LambdaFunction, DeliveryConstruct>()

/** A delivery, whether this stack makes it or another did. Senders and receivers connect to it. */
export abstract class DeliveryConstruct extends Construct {
  /** The names of table, topic and queue, for another stack. */
  abstract readonly attributes: DelayedDeliveryAttributes
  /** The topic that carries everything that is due, and what is sent at once. */
  abstract readonly topic: ITopic
  /** The customer's key, if there is one. */
  abstract readonly encryptionKey: IKey | undefined
  /** What rings when an alarm of this delivery or of its receivers goes off. */
  abstract readonly alarmActions: readonly IAlarmAction[]
  /** The table's ARN. */
  protected abstract readonly tableArn: string

  private readonly receivers = new Map<string, readonly string[]>()

  /**
   * Lets a principal send: store messages that are not there yet, publish, and leave wake hints. It can neither change nor
   * remove what is stored.
   */
  grantSend(grantee: IGrantable): Grant {
    const { topicArn, wakeQueue } = this.attributes
    return combineGrants(
      grantOn(grantee, topicArn, 'sns:Publish'),
      grantTable(grantee, this.tableArn, senderPermissions),
      ...(wakeQueue === undefined ? [] : [grantOn(grantee, wakeQueue.queueArn, 'sqs:SendMessage')]),
      ...(this.encryptionKey === undefined ? [] : [grantKey(grantee, this.encryptionKey, 'send')]),
    )
  }

  /**
   * Lets a principal recall and reschedule messages, its own and those of others. Sending is granted apart; a send under a
   * key, which may put one message in the place of another, needs both.
   */
  grantRecall(grantee: IGrantable): Grant {
    const table = grantTable(grantee, this.tableArn, recallPermissions)
    return this.encryptionKey === undefined ? table : table.combine(grantKey(grantee, this.encryptionKey, 'send'))
  }

  /**
   * Lets a principal do what `createOperator` offers: recall and reschedule, list and look into what waits and what was given
   * up on, put back, purge, pause. For people and their tools.
   */
  grantManage(grantee: IGrantable): Grant {
    const { wakeQueue } = this.attributes
    return combineGrants(
      grantTable(grantee, this.tableArn, managePermissions),
      ...(wakeQueue === undefined ? [] : [grantOn(grantee, wakeQueue.queueArn, 'sqs:SendMessage')]),
      ...(this.encryptionKey === undefined ? [] : [grantKey(grantee, this.encryptionKey, 'send')]),
    )
  }

  /** Lets a principal keep its inbox in the table: for receivers with `powertoolsInbox({ tableName })`. */
  grantInbox(grantee: IGrantable): Grant {
    const key = this.encryptionKey === undefined ? [] : [grantKey(grantee, this.encryptionKey, 'send')]
    return combineGrants(grantTable(grantee, this.tableArn, inboxPermissions), ...key)
  }

  /**
   * Connects a function: `grantSend`, and the environment that `busFromEnvironment()` reads. Besides sending it may what
   * `options` say.
   * @throws Error when it is connected to another delivery, since its environment names one
   */
  connect(fn: LambdaFunction, options: ConnectOptions = {}): Grant {
    const connected = connections.get(fn)
    if (connected !== undefined && connected !== this)
      throw refuseProps(
        fn,
        `it is connected to ${connected.node.path} already; a function has one bus in its environment`,
      )
    connections.set(fn, this)
    for (const [name, value] of Object.entries(connectionOf(this.attributes))) fn.addEnvironment(name, value)
    const { recall = false, manage = false, inbox = false } = options
    return combineGrants(
      this.grantSend(fn),
      ...(recall && !manage ? [this.grantRecall(fn)] : []),
      ...(manage ? [this.grantManage(fn)] : []),
      ...(inbox ? [this.grantInbox(fn)] : []),
    )
  }

  /**
   * Tells the delivery of a receiver, as `MessageReceiver` does: its messages are routed, and its queue may be encrypted with
   * this key, the delivery's own if none is given. Answers its routes.
   * @throws Error for a name that another receiver has, and for messages that a filter can't hold
   */
  registerReceiver(receiver: ReceiverRoutes, encryptionKey: IKey | undefined = this.encryptionKey): readonly string[] {
    if (this.receivers.has(receiver.name)) throw refuseProps(this, `it has two receivers called ${receiver.name}`)
    const routes = routesOf(this, receiver)
    this.receivers.set(receiver.name, routes)
    if (encryptionKey !== undefined && encryptionKey !== this.encryptionKey) allowDelivery(this, encryptionKey)
    return routes
  }

  /** Every route that a receiver is known to take, each once, sorted. */
  protected get knownRoutes(): readonly string[] {
    return [...new Set([...this.receivers.values()].flat())].sort()
  }

  private metric(key: Parameters<typeof deliveryMetric>[1], options: MetricOptions = {}): Metric {
    return deliveryMetric(this.attributes, key, options)
  }

  /** How long the oldest due message has been waiting, in milliseconds. @default the maximum of a minute */
  metricBacklogAge(options?: MetricOptions): Metric {
    return this.metric('backlogAge', options)
  }

  /** Messages due and not yet dispatched. @default the maximum of a minute */
  metricBacklog(options?: MetricOptions): Metric {
    return this.metric('backlog', options)
  }

  /** Messages dispatched when they were due. @default the sum of a minute */
  metricDispatched(options?: MetricOptions): Metric {
    return this.metric('dispatched', options)
  }

  /** Dispatched at, minus due at, in milliseconds. @default the 99th percentile of a minute */
  metricLateness(options?: MetricOptions): Metric {
    return this.metric('lateness', options)
  }

  /** Messages that were given up on and still lie in the table. @default the maximum of a minute */
  metricDead(options?: MetricOptions): Metric {
    return this.metric('dead', options)
  }

  /** Looks, publishes, settles and releases that failed. @default the sum of a minute */
  metricErrors(options?: MetricOptions): Metric {
    return this.metric('errors', options)
  }

  /** At least 1 for each minute in which a dispatcher worked. @default the sum of a minute */
  metricDispatcherAlive(options?: MetricOptions): Metric {
    return this.metric('dispatcherAlive', options)
  }
}
