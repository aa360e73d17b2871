import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { dispatchModes } from '../lib/wiring/environment.js'
import { ExampleStack, PartnerStack } from './example-stack.js'

/**
 * The CDK app: the example, deployed by `npx cdk deploy PostdateExample`.
 *
 * - `-c mode=minute` dispatches to the minute instead of to the millisecond
 * - `-c customerKey=true` encrypts everything with a key of the customer's own
 * - `-c partner=true` adds a second stack, which sends through the first one's bus
 */
// The assembly says what is deployed, and the same in every checkout: not who made it where, and how fast.
const app = new App({
  context: { 'aws:cdk:disable-creation-stack-traces': true, 'aws:cdk:performance-reporting': false },
})

const flag = (name: string): boolean => ['true', true].includes(app.node.tryGetContext(name))
const asked: unknown = app.node.tryGetContext('mode') ?? 'second'
const mode = dispatchModes.find((one) => one === asked)
if (mode === undefined) throw new Error(`the context mode is ${String(asked)}; it is ${dispatchModes.join(' or ')}`)

const example = new ExampleStack(app, 'PostdateExample', { mode, customerKey: flag('customerKey') })
if (flag('partner')) new PartnerStack(app, 'PostdatePartner', example.attributes)
Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
