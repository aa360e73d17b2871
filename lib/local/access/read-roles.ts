import { listOf, objectOf } from '../assembly/read-property.js'
import type { JsonObject, Resource } from '../assembly/template.js'
import { LocalCloudError } from '../local-error.js'
import type { NamedPolicy, PolicyDocument, Role } from './policy.js'

const allow = (actions: readonly string[]): PolicyDocument => ({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: actions, Resource: '*' }],
})

/** The policies of AWS that functions commonly have. */
const managedByAws: Readonly<Record<string, PolicyDocument>> = {
  'service-role/AWSLambdaBasicExecutionRole': allow([
    'logs:CreateLogGroup',
    'logs:CreateLogStream',
    'logs:PutLogEvents',
  ]),
  'service-role/AWSLambdaSQSQueueExecutionRole': allow([
    ...['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
    ...['logs:CreateLogGroup', 'logs:CreateLogStream', 'logs:PutLogEvents'],
  ]),
  AWSXRayDaemonWriteAccess: allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords']),
}

const findManaged = (arn: string, role: Resource, resources: readonly Resource[]): NamedPolicy => {
  const own = resources.find((candidate) => candidate.type === 'AWS::IAM::ManagedPolicy' && candidate.arn === arn)
  const document = own === undefined ? managedByAws[arn.split(':policy/')[1] ?? ''] : objectOf(own, 'PolicyDocument')
  if (document === undefined)
    throw new LocalCloudError(
      'resource.unknown',
      `${role.path} has the managed policy ${arn}, whose content the local cloud does not know`,
      'Write the grants out in the app, or add the policy to lib/local/access/read-roles.ts.',
    )
  return { name: arn, document }
}

/** Policies that name the role, instead of the other way round. */
const attachedPolicies = (role: Resource, resources: readonly Resource[]): NamedPolicy[] =>
  resources
    .filter(({ type }) => type === 'AWS::IAM::Policy' || type === 'AWS::IAM::ManagedPolicy')
    .filter((policy) => listOf(policy, 'Roles').includes(role.name))
    .map((policy) => ({ name: policy.path, document: objectOf(policy, 'PolicyDocument') }))

/**
 * Reads the roles with all their policies.
 * @throws LocalCloudError `resource.unknown` for a managed policy of AWS whose content is not known
 */
export const readRoles = (resources: readonly Resource[]): readonly Role[] =>
  resources
    .filter(({ type }) => type === 'AWS::IAM::Role')
    .map((role) => ({
      arn: role.arn,
      name: role.name,
      path: role.path,
      trust: objectOf(role, 'AssumeRolePolicyDocument'),
      policies: [
        ...(listOf(role, 'Policies') as readonly JsonObject[]).map((policy) => ({
          name: `${role.path}/${String(policy.PolicyName)}`,
          document: policy.PolicyDocument as PolicyDocument,
        })),
        ...attachedPolicies(role, resources),
        ...listOf(role, 'ManagedPolicyArns').map((arn) => findManaged(String(arn), role, resources)),
      ],
    }))
