import type { Duration } from 'aws-cdk-lib'
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { alarmMaker } from './alarms.js'
import type { DeliveryConstruct } from './delivery-construct.js'
import type { Unrouted } from './unrouted.js'

/** What the alarms of a delivery look at, besides its metrics. */
export interface WatchedParts {
  readonly dispatcher: LambdaFunction
  readonly tickDeadLetters: Queue
  readonly hintDeadLetters: Queue | undefined
  readonly unrouted: Unrouted | undefined
  readonly backlogAgeThreshold: Duration
}

/** Minutes in a row that make an alarm: one that passes by itself should wake nobody. */
const LATE_MINUTES = 2
const SILENT_MINUTES = 5
const FAILING_MINUTES = 3

/** Makes the alarms of a delivery. */
export const watchDelivery = (delivery: DeliveryConstruct, parts: WatchedParts): readonly Alarm[] => {
  const { dispatcher, tickDeadLetters, hintDeadLetters, unrouted, backlogAgeThreshold } = parts
  const { busName } = delivery.attributes
  const alarms = alarmMaker(delivery, delivery.alarmActions)
  const alarmOf = (queue: Queue | undefined, id: string, what: string) =>
    queue === undefined ? [] : [alarms.notEmpty(id, queue, what)]
  return [
    alarms.above(
      'BacklogAge',
      delivery.metricBacklogAge(),
      backlogAgeThreshold.toMilliseconds(),
      LATE_MINUTES,
      `Messages of ${busName} wait past their time: the topic takes none, or the dispatcher can't keep up.`,
    ),
    alarms.belowOrMissing(
      'DispatcherSilent',
      delivery.metricDispatcherAlive(),
      1,
      SILENT_MINUTES,
      `No dispatcher of ${busName} has completed a look at what is due: nothing goes out.`,
    ),
    alarms.failing('DispatcherFails', dispatcher, `The dispatcher function of ${busName} crashes or times out.`),
    alarms.above(
      'DispatchErrors',
      delivery.metricErrors(),
      0,
      FAILING_MINUTES,
      `The dispatcher of ${busName} meets errors of the table or the topic.`,
    ),
    alarms.above('DeadMessages', delivery.metricDead(), 0, 1, `Messages of ${busName} were given up on.`),
    ...alarmOf(tickDeadLetters, 'TickDeadLetters', `The schedule of ${busName} could not call the dispatcher.`),
    ...alarmOf(
      hintDeadLetters,
      'HintDeadLetters',
      `The waker of ${busName} fails, or something else sends to its queue.`,
    ),
    ...alarmOf(unrouted?.queue, 'Unrouted', `Messages of ${busName} were taken by no receiver.`),
    ...alarmOf(
      unrouted?.deadLetters,
      'UnroutedDeadLetters',
      `SNS could not deliver to the unrouted queue of ${busName}.`,
    ),
  ]
}
