import type { AccessCheck } from '../access/check-access.js'
import { invalidResource, objectOf, textOf } from '../assembly/read-property.js'
import type { Resource } from '../assembly/template.js'
import { type EventSource, readEventSource } from '../events/event-source.js'
import type { FunctionDefinition } from '../functions/function-definition.js'
import type { Queue } from './make-queues.js'

/** What the checks look at. */
export interface Deployment {
  readonly resources: readonly Resource[]
  readonly functions: readonly FunctionDefinition[]
  readonly queues: readonly Queue[]
  readonly access: AccessCheck
}

/** What Lambda's pollers do with a queue, in the name of the function. */
const pollerActions = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes']

const checkRole = async (
  resource: Resource,
  roleArn: string,
  service: string,
  sourceArn: string,
  access: AccessCheck,
) => {
  if (!(await access.canAssume(service, sourceArn, roleArn)))
    throw invalidResource(resource, `${service} can't take the role ${roleArn}: it is missing, or does not trust it`)
}

const checkEventSource = async (
  resource: Resource,
  source: EventSource,
  { functions, queues, access }: Deployment,
): Promise<void> => {
  const queue = queues.find(({ arn }) => arn === source.queueArn)
  if (queue === undefined) throw invalidResource(resource, `the queue ${source.queueArn} does not exist`)
  const target = functions.find(({ name, arn }) => [name, arn].includes(source.functionName))
  if (target === undefined) throw invalidResource(resource, `the function ${source.functionName} does not exist`)
  if (queue.visibilitySeconds < target.timeoutSeconds)
    throw invalidResource(
      resource,
      `the queue's visibility timeout of ${queue.visibilitySeconds} s is less than the function's timeout of ${target.timeoutSeconds} s`,
    )
  for (const action of pollerActions) {
    const denial = await access.asRole(target.roleArn, target.name, { action, resource: queue.arn })
    if (denial !== undefined)
      throw invalidResource(resource, `the function's role does not let Lambda poll: ${denial.message}`)
  }
}

const checkDeadLetters = (resource: Resource, queues: readonly Queue[]): void => {
  const { deadLetterTargetArn: arn, maxReceiveCount: count } = objectOf(resource, 'RedrivePolicy')
  if (arn === undefined) return
  if (!queues.some((queue) => queue.arn === arn))
    throw invalidResource(resource, `its dead-letter queue ${String(arn)} does not exist`)
  if (resource.type === 'AWS::SQS::Queue' && !(Number(count) >= 1 && Number(count) <= 1000))
    throw invalidResource(resource, `its maxReceiveCount is ${String(count)}, outside 1 to 1000`)
}

/** Lambda refuses a function whose role does not let it fill the function's dead-letter queue. */
const checkFunctionDeadLetters = async (resource: Resource, access: AccessCheck): Promise<void> => {
  const { TargetArn: arn } = objectOf(resource, 'DeadLetterConfig')
  if (arn === undefined) return
  const sending = { action: 'sqs:SendMessage', resource: String(arn) }
  const denial = await access.asRole(textOf(resource, 'Role'), resource.name, sending)
  if (denial !== undefined)
    throw invalidResource(resource, `its role does not let it fill its dead-letter queue: ${denial.message}`)
}

const checkResource = async (resource: Resource, deployment: Deployment): Promise<void> => {
  const { queues, access } = deployment
  switch (resource.type) {
    case 'AWS::SQS::Queue':
    case 'AWS::SNS::Subscription':
      return checkDeadLetters(resource, queues)
    case 'AWS::Lambda::Function':
      await checkRole(resource, textOf(resource, 'Role'), 'lambda.amazonaws.com', resource.arn, access)
      return checkFunctionDeadLetters(resource, access)
    case 'AWS::Lambda::EventSourceMapping':
      return checkEventSource(resource, readEventSource(resource), deployment)
    case 'AWS::Scheduler::Schedule': {
      // The Scheduler takes a role in the name of the schedule's group.
      const group = resource.arn.replace(/:schedule\/([^/]+)\/.*$/, ':schedule-group/$1')
      const { RoleArn: roleArn } = objectOf(resource, 'Target')
      return checkRole(resource, String(roleArn), 'scheduler.amazonaws.com', group, access)
    }
  }
}

/**
 * Checks what AWS checks when it makes the resources: that what they refer to exists, that roles trust who takes them,
 * that Lambda may poll, and that a queue hides messages for as long as its function may run.
 * @throws LocalCloudError `resource.invalid`, naming the resource
 */
export const checkDeployment = async (deployment: Deployment): Promise<void> => {
  for (const resource of deployment.resources) await checkResource(resource, deployment)
}
