import { listOf, objectOf } from '../assembly/read-property.js'
import type { Resource } from '../assembly/template.js'
import type { PolicyDocument } from './policy.js'

/** The policies that resources have themselves, by the ARN of the resource: of queues, topics and keys. */
export const readResourcePolicies = (
  resources: readonly Resource[],
): ReadonlyMap<string, readonly PolicyDocument[]> => {
  const policies = new Map<string, PolicyDocument[]>()
  const add = (arn: string, document: PolicyDocument) => policies.set(arn, [...(policies.get(arn) ?? []), document])
  const arnByRef = new Map(resources.map(({ ref, arn }) => [ref, arn]))
  for (const resource of resources) {
    if (resource.type === 'AWS::KMS::Key') add(resource.arn, objectOf(resource, 'KeyPolicy'))
    const property =
      resource.type === 'AWS::SQS::QueuePolicy'
        ? 'Queues'
        : resource.type === 'AWS::SNS::TopicPolicy'
          ? 'Topics'
          : undefined
    if (property === undefined) continue
    for (const ref of listOf(resource, property))
      add(arnByRef.get(String(ref)) ?? String(ref), objectOf(resource, 'PolicyDocument'))
  }
  return policies
}
