import { Duration } from 'aws-cdk-lib'

/**
 * What Lambda's poller does with a queue in the name of its function.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
 */
export const POLLING_ACTIONS: readonly string[] = ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage']

/**
 * A queue hides a record for six times its function's time-out: Lambda may be throttled, and asks again before it gives the
 * record back. @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
 */
export const visibilityFor = (timeout: Duration): Duration => Duration.seconds(6 * timeout.toSeconds())
