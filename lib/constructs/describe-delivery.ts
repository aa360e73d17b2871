import { CfnOutput, Stack } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { type DeployedDelivery, markDelivery } from '../wiring/deployed-delivery.js'

/** Writes what a delivery is into an output of its stack, where the command line finds it by the stack's name. */
export const describeDelivery = (scope: Construct, delivery: DeployedDelivery): CfnOutput =>
  new CfnOutput(scope, 'Postdate', {
    description: `The bus ${delivery.busName}, for the command line of Postdate`,
    value: Stack.of(scope).toJsonString(markDelivery(delivery)),
  })
