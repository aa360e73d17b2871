import { Duration, Stack } from 'aws-cdk-lib'
import { PrincipalWithConditions, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { grantKey } from './encryption.js'
import { grantOn } from './permissions.js'
import { createQueue } from './queues.js'

/** A tick that is late is worth nothing: the next one finds whatever it would have. */
const MOST_AGE = Duration.seconds(60)

/**
 * Has EventBridge Scheduler call the dispatcher once a minute. Lambda does not repeat a call that failed, since the next tick
 * comes anyway. What the Scheduler could not hand to Lambda is in the dead-letter queue, which is returned.
 * @see https://docs.aws.amazon.com/scheduler/latest/UserGuide/what-is-scheduler.html
 */
export const createTick = (scope: Construct, dispatcher: LambdaFunction, encryptionKey: IKey | undefined): Queue => {
  dispatcher.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: MOST_AGE })
  const deadLetters = createQueue(scope, 'TickDeadLetters', { encryptionKey })
  const { account } = Stack.of(scope)
  const group = Stack.of(scope).formatArn({
    service: 'scheduler',
    resource: 'schedule-group',
    resourceName: 'default',
  })
  const role = new Role(scope, 'TickRole', {
    // No schedule of another account may take this role.
    assumedBy: new PrincipalWithConditions(new ServicePrincipal('scheduler.amazonaws.com'), {
      StringEquals: { 'aws:SourceAccount': account, 'aws:SourceArn': group },
    }),
  })
  grantOn(role, dispatcher.functionArn, 'lambda:InvokeFunction')
  grantOn(role, deadLetters.queueArn, 'sqs:SendMessage')
  if (encryptionKey !== undefined) grantKey(role, encryptionKey, 'enqueue')
  const schedule = new CfnSchedule(scope, 'Tick', {
    description: 'Calls the dispatcher of delayed messages once a minute',
    scheduleExpression: 'rate(1 minute)',
    flexibleTimeWindow: { mode: 'OFF' },
    target: {
      arn: dispatcher.functionArn,
      roleArn: role.roleArn,
      deadLetterConfig: { arn: deadLetters.queueArn },
      retryPolicy: { maximumEventAgeInSeconds: MOST_AGE.toSeconds(), maximumRetryAttempts: 2 },
    },
  })
  // The Scheduler tries the role when the schedule is made, so its permissions have to be there.
  schedule.node.addDependency(role)
  return deadLetters
}
