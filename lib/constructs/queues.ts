import { Duration } from 'aws-cdk-lib'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { type DeadLetterQueue, Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'

/** Settings of a queue that differ from one to another. */
export interface QueueSettings extends Pick<QueueProps, 'retentionPeriod' | 'visibilityTimeout'> {
  /** A customer's key. @default SQS's own */
  readonly encryptionKey: IKey | undefined
  readonly deadLetterQueue?: DeadLetterQueue
}

/** The longest that SQS keeps a message. */
export const LONGEST_RETENTION = Duration.days(14)

/** Makes a queue: encrypted, TLS enforced, and kept for as long as can be. */
export const createQueue = (scope: Construct, id: string, settings: QueueSettings): Queue => {
  const { encryptionKey, retentionPeriod = LONGEST_RETENTION, ...props } = settings
  return new Queue(scope, id, {
    ...props,
    retentionPeriod,
    enforceSSL: true,
    ...(encryptionKey === undefined
      ? { encryption: QueueEncryption.SQS_MANAGED }
      : { encryption: QueueEncryption.KMS, encryptionMasterKey: encryptionKey }),
  })
}
