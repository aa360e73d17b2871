import { Duration } from 'aws-cdk-lib'
import {
  Alarm,
  ComparisonOperator,
  type IAlarmAction,
  type IMetric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'

/** Makes alarms that ring the same actions. `docs/guides/alarms.md` has a heading for each id. */
export interface AlarmMaker {
  /** Rings when a metric is above a number for so many minutes; no data is no alarm. */
  above(id: string, metric: IMetric, threshold: number, minutes: number, what: string): Alarm
  /** Rings when a metric is below a number, or has no data, for so many minutes. */
  belowOrMissing(id: string, metric: IMetric, threshold: number, minutes: number, what: string): Alarm
  /** Rings when anything lies in a queue. */
  notEmpty(id: string, queue: IQueue, what: string): Alarm
  /** Rings when a function fails in two minutes of five. */
  failing(id: string, fn: IFunction, what: string): Alarm
}

const headingOf = (id: string): string => id.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()

/** Makes an alarm maker. */
export const alarmMaker = (scope: Construct, actions: readonly IAlarmAction[]): AlarmMaker => {
  const make = (id: string, what: string, props: Omit<ConstructorParameters<typeof Alarm>[2], 'alarmDescription'>) => {
    const alarmDescription = `${what} What to do: docs/guides/alarms.md#${headingOf(id)}`
    const alarm = new Alarm(scope, `${id}Alarm`, { ...props, alarmDescription })
    alarm.addAlarmAction(...actions)
    return alarm
  }
  return {
    above: (id, metric, threshold, minutes, what) =>
      make(id, what, {
        metric,
        threshold,
        evaluationPeriods: minutes,
        comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      }),
    belowOrMissing: (id, metric, threshold, minutes, what) =>
      make(id, what, {
        metric,
        threshold,
        evaluationPeriods: minutes,
        comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.BREACHING,
      }),
    notEmpty: (id, queue, what) =>
      make(id, what, {
        // SQS writes this metric once a minute, and none for a queue that nobody has used for hours.
        metric: queue.metricApproximateNumberOfMessagesVisible({
          period: Duration.minutes(1),
          statistic: Stats.MAXIMUM,
        }),
        threshold: 0,
        evaluationPeriods: 1,
        comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      }),
    failing: (id, fn, what) =>
      make(id, what, {
        metric: fn.metricErrors({ period: Duration.minutes(1), statistic: Stats.SUM }),
        threshold: 0,
        evaluationPeriods: 5,
        datapointsToAlarm: 2,
        comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      }),
  }
}
