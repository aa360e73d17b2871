import { Stack, Token } from 'aws-cdk-lib'
import type { IAlarmAction } from 'aws-cdk-lib/aws-cloudwatch'
import { type IKey, Key } from 'aws-cdk-lib/aws-kms'
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'
import { type DelayedDeliveryAttributes, DeliveryConstruct } from './delivery-construct.js'
import { checkName, checkShards, refuseProps } from './refuse-props.js'

const TABLE_NAME = /^[\w.-]{3,255}$/

/**
 * Checks what another stack is said to have made. What is known only at deployment can't be checked.
 * @throws Error that names the construct
 */
const checkImported = (
  scope: Construct,
  { busName, tableName, topicArn, writeShards }: DelayedDeliveryAttributes,
): void => {
  if (!Token.isUnresolved(busName)) checkName(scope, 'busName', busName)
  if (!Token.isUnresolved(tableName) && !TABLE_NAME.test(tableName))
    throw refuseProps(scope, `tableName is ${JSON.stringify(tableName)}; it must be a table's name, not its ARN`)
  if (topicArn.endsWith('.fifo'))
    throw refuseProps(scope, `topicArn is ${JSON.stringify(topicArn)}; it must be that of a standard topic`)
  if (writeShards !== undefined) checkShards(scope, writeShards)
}

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
    checkImported(this, attributes)
    const { tableName, topicArn, encryptionKeyArn } = attributes
    this.attributes = attributes
    this.topic = Topic.fromTopicArn(this, 'Topic', topicArn)
    this.encryptionKey = encryptionKeyArn === undefined ? undefined : Key.fromKeyArn(this, 'Key', encryptionKeyArn)
    this.tableArn = Stack.of(this).formatArn({ service: 'dynamodb', resource: 'table', resourceName: tableName })
  }
}
