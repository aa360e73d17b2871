import { RemovalPolicy } from 'aws-cdk-lib'
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb'
import type { Construct } from 'constructs'
import { tableSchema } from '../wiring/table.js'
import type { DelayedDeliveryProps } from './delivery-props.js'

/** Makes the table that keeps what waits. One table and no index: senders and dispatchers pay by request. */
export const createTable = (scope: Construct, props: DelayedDeliveryProps): Table => {
  const { encryptionKey, removalPolicy = RemovalPolicy.RETAIN, pointInTimeRecovery = true } = props
  return new Table(scope, 'Table', {
    partitionKey: { name: tableSchema.partitionKey, type: AttributeType.STRING },
    sortKey: { name: tableSchema.sortKey, type: AttributeType.STRING },
    timeToLiveAttribute: tableSchema.timeToLive,
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: pointInTimeRecovery },
    deletionProtection: props.deletionProtection ?? removalPolicy !== RemovalPolicy.DESTROY,
    removalPolicy,
    ...(encryptionKey !== undefined && { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey }),
  })
}
