import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { Key } from 'aws-cdk-lib/aws-kms'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { CancelOrder, OrderPlaced, RemindPayment } from '../lambdas/messages.js'
import { BundledFunctionConstruct } from '../lib/constructs/bundled-function.js'
import { DelayedDelivery } from '../lib/constructs/delayed-delivery.js'
import type { DelayedDeliveryAttributes } from '../lib/constructs/delivery-construct.js'
import { MessageReceiver } from '../lib/constructs/message-receiver.js'
import type { DispatchMode } from '../lib/wiring/environment.js'
import { acknowledgeFindings } from './acknowledge-findings.js'

/** How the example is deployed. */
export interface ExampleProps extends StackProps {
  readonly mode: DispatchMode
  /** Whether a key of the customer's own encrypts everything. */
  readonly customerKey: boolean
}

/** A function of the example. In an app of your own: any `Function` or `NodejsFunction`. */
const createFunction = (scope: Construct, id: string, asset: string, description: string) =>
  new BundledFunctionConstruct(scope, id, asset, {
    description,
    timeout: Duration.seconds(10),
    memorySize: 256,
    logRetention: RetentionDays.ONE_WEEK,
  }).function

/** A shop: an orders function that schedules what is to happen if nobody pays, and a receiver that does it. */
export class ExampleStack extends Stack {
  /** What another stack needs to know to send through the same bus. */
  readonly attributes: DelayedDeliveryAttributes

  constructor(scope: Construct, id: string, props: ExampleProps) {
    super(scope, id, props)
    const encryptionKey = props.customerKey
      ? new Key(this, 'Key', { enableKeyRotation: true, removalPolicy: RemovalPolicy.DESTROY })
      : undefined
    const delivery = new DelayedDelivery(this, 'Delivery', {
      busName: 'orders',
      mode: props.mode,
      // An example is to be taken down without a trace; leave both out for messages that matter.
      removalPolicy: RemovalPolicy.DESTROY,
      dashboard: true,
      ...(encryptionKey !== undefined && { encryptionKey }),
    })
    this.attributes = delivery.attributes
    const orders = createFunction(this, 'Orders', 'orders', 'Places orders, and schedules reminder and cancellation')
    delivery.connect(orders)
    const billing = new MessageReceiver(this, 'Billing', {
      delivery,
      name: 'billing',
      handler: createFunction(this, 'BillingFunction', 'billing', 'Handles what was ordered, reminded and cancelled'),
      messages: [OrderPlaced, RemindPayment, CancelOrder],
    })
    acknowledgeFindings(delivery, billing)
    new CfnOutput(this, 'OrdersFunctionName', { value: orders.functionName })
    new CfnOutput(this, 'TableName', { value: delivery.table.tableName })
  }
}

/** Another team's stack, which sends through the same bus. */
export class PartnerStack extends Stack {
  constructor(scope: Construct, id: string, attributes: DelayedDeliveryAttributes, props: StackProps = {}) {
    super(scope, id, props)
    const delivery = DelayedDelivery.fromAttributes(this, 'Delivery', attributes)
    const orders = createFunction(this, 'Orders', 'orders', "Places partners' orders on the bus of the shop")
    delivery.connect(orders)
    new CfnOutput(this, 'OrdersFunctionName', { value: orders.functionName })
  }
}
