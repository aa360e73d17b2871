import type { Duration, RemovalPolicy } from 'aws-cdk-lib'
import type { IAlarmAction } from 'aws-cdk-lib/aws-cloudwatch'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { DispatchMode } from '../wiring/environment.js'
import type { ReceiverRoutes } from './routes.js'

/** How a delivery is made. Only the name is needed. */
export interface DelayedDeliveryProps {
  /** The bus's name: stable, since it is part of every recall handle. 1 to 64 letters, digits, `_` and `-`. */
  readonly busName: string
  /**
   * `second`: messages go out at their millisecond; a dispatcher stays awake while anything is near, and a waker answers
   * what is sent for the next two minutes. `minute`: each minute's tick drains what is due and leaves, up to two minutes
   * late; no waker and no queue of hints.
   * @default 'second'
   */
  readonly mode?: DispatchMode
  /**
   * A customer's key for table, topic and queues. Its policy gets the statement that SNS needs; that of an imported key
   * can't be changed, and a warning says what it has to hold. Logs hold no messages, and are not encrypted with it.
   * @default the services' own keys
   */
  readonly encryptionKey?: IKey
  /**
   * How many slices senders spread the rows over, an integer from 1 to 1,000. Each takes 1,000 write units a second, of which
   * a message needs three; each costs the dispatcher a read a second while it is awake. May be changed at any time.
   * @default 8
   */
  readonly writeShards?: number
  /** What becomes of the table, and of the messages that wait in it, when the stack is deleted. @default RETAIN */
  readonly removalPolicy?: RemovalPolicy
  /** Whether the table can't be deleted until this is taken away. @default true, unless `removalPolicy` is DESTROY */
  readonly deletionProtection?: boolean
  /** Whether the table can be restored to any second of the last 35 days. @default true */
  readonly pointInTimeRecovery?: boolean
  /** Memory of the dispatcher and the waker, in megabytes, from 128 to 10,240; their share of the CPU grows with it. @default 256 */
  readonly memorySize?: number
  /** How long the functions' logs are kept. @default 30 days */
  readonly logRetention?: RetentionDays
  /**
   * A queue, with an alarm, for messages that no receiver takes. Its filter lists all routes, at most 149; receivers of
   * other stacks are to be named in `receiversElsewhere`.
   * @default true
   */
  readonly unrouted?: boolean
  /** Receivers that other stacks make on this delivery, so that what they take is not called unrouted. @default none */
  readonly receiversElsewhere?: readonly ReceiverRoutes[]
  /** Whether alarms are made, nine of them in the mode `second`. @default true */
  readonly alarms?: boolean
  /** What rings when an alarm goes off, such as `new SnsAction(topic)`. @default nothing: alarms only change color */
  readonly alarmActions?: readonly IAlarmAction[]
  /** How late the oldest message may be before an alarm goes off; whole milliseconds. @default 1 minute; in the mode `minute` 5 minutes */
  readonly backlogAgeThreshold?: Duration
  /** Whether a CloudWatch dashboard is made. The fourth of an account costs $3 a month. @default false */
  readonly dashboard?: boolean
}
