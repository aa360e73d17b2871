import { Annotations, Stack } from 'aws-cdk-lib'
import { Effect, Grant, type IGrantable, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { IConstruct } from 'constructs'

/** What a principal does with a key: each list names its actions one by one. */
const keyUses = {
  /** Stores in an encrypted table, publishes to an encrypted topic, sends to an encrypted queue. */
  send: [
    ...['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey'],
    ...['kms:GenerateDataKeyWithoutPlaintext', 'kms:ReEncryptFrom', 'kms:ReEncryptTo'],
  ],
  /** Sends to an encrypted queue. */
  enqueue: ['kms:Decrypt', 'kms:GenerateDataKey'],
  /** Receives from an encrypted queue. */
  receive: ['kms:Decrypt'],
} as const

/** The services through which a principal may use the key, and no other way. */
const services = { send: ['dynamodb', 'sns', 'sqs'], enqueue: ['sqs'], receive: ['sqs'] } as const

/**
 * Lets a principal use the customer's key, through the services that it has to do with.
 * @see https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service
 */
export const grantKey = (grantee: IGrantable, key: IKey, use: keyof typeof keyUses): Grant => {
  const { region } = Stack.of(key)
  return Grant.addToPrincipal({
    grantee,
    actions: [...keyUses[use]],
    resourceArns: [key.keyArn],
    conditions: {
      StringEquals: { 'kms:ViaService': services[use].map((service) => `${service}.${region}.amazonaws.com`) },
    },
  })
}

/**
 * Lets SNS deliver to queues that the key encrypts. Without this statement SNS takes messages and loses them, which nobody
 * is told of (aws-cdk #2504, #11122). The policy of a key that was imported can't be changed: then a warning says what is
 * missing. Limited by account and not by topic, since the topic itself refers to the key.
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html#compatibility-with-aws-services
 */
export const allowDelivery = (scope: IConstruct, key: IKey): void => {
  const statement = new PolicyStatement({
    sid: 'AllowSnsToDeliverToEncryptedQueues',
    effect: Effect.ALLOW,
    principals: [new ServicePrincipal('sns.amazonaws.com')],
    actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
    resources: ['*'],
    conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
  })
  if (key.addToResourcePolicy(statement, true).statementAdded) return
  Annotations.of(scope).addWarningV2(
    'postdate:keyPolicy',
    'The key was imported, so its policy is yours to change: it has to allow sns.amazonaws.com kms:Decrypt and kms:GenerateDataKey, or SNS loses what it should deliver.',
  )
}
