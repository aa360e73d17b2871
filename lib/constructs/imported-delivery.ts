import { Stack } from 'aws-cdk-lib'
import type { IAlarmAction } from 'aws-cdk-lib/aws-cloudwatch'
import { type IKey, Key } from 'aws-cdk-lib/aws-kms'
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'
import { type DelayedDeliveryAttributes, DeliveryConstruct } from './delivery-construct.js'

/** A delivery that another stack of the same account and region made. */
export class ImportedDeliveryConstruct extends DeliveryConstruct {
  readonly attributes: DelayedDeliveryAttributes
  readonly topic: ITopic
  readonly encryptionKey: IKey | undefined
  /** Alarms are the other stack's; receivers of this one have actions of their own. */
  readonly alarmActions: readonly IAlarmAction[] = []
  protected readonly tableArn: string

  constructor(scope: Construct, id: string, attributes: DelayedDeliveryAttributes) {
    super(scope, id)
    const { tableName, topicArn, encryptionKeyArn } = attributes
    this.attributes = attributes
    this.topic = Topic.fromTopicArn(this, 'Topic', topicArn)
    this.encryptionKey = encryptionKeyArn === undefined ? undefined : Key.fromKeyArn(this, 'Key', encryptionKeyArn)
    this.tableArn = Stack.of(this).formatArn({ service: 'dynamodb', resource: 'table', resourceName: tableName })
  }
}
