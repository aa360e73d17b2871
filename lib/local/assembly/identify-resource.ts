import { createHash } from 'node:crypto'
import { LocalCloudError } from '../local-error.js'
import type { JsonObject, Place, TemplateResource } from './template.js'

/** Who a resource is: what `Ref` and `Fn::GetAtt` give, before anything of it exists. */
export interface Identity {
  readonly name: string
  readonly arn: string
  readonly ref: string
  /** The further attributes of `Fn::GetAtt`. */
  readonly attributes: Readonly<Record<string, string>>
}

/** What identities are made from. */
export interface Naming {
  readonly place: Place
  /** The address of a queue, under which functions reach it. */
  readonly queueUrl: (name: string) => string
}

const nameProperties: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::Table': 'TableName',
  'AWS::SNS::Topic': 'TopicName',
  'AWS::SQS::Queue': 'QueueName',
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::Scheduler::Schedule': 'Name',
  'AWS::IAM::Role': 'RoleName',
  'AWS::IAM::ManagedPolicy': 'ManagedPolicyName',
  'AWS::CloudWatch::Alarm': 'AlarmName',
  'AWS::CloudWatch::CompositeAlarm': 'AlarmName',
  'AWS::CloudWatch::Dashboard': 'DashboardName',
  'AWS::Logs::LogGroup': 'LogGroupName',
  'AWS::KMS::Alias': 'AliasName',
}

/** The lengths at which AWS cuts names that CloudFormation makes up. */
const longestNames: Readonly<Record<string, number>> = {
  'AWS::SQS::Queue': 80,
  'AWS::Lambda::Function': 64,
  'AWS::Scheduler::Schedule': 64,
  'AWS::IAM::Role': 64,
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

const asUuid = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')

/** `<stack>-<logical id>-<hash>`, cut as CloudFormation does; the same at every start. */
const makeUpName = (stack: string, logicalId: string, type: string): string => {
  const hash = digestOf(`${stack}/${logicalId}`).slice(0, 10)
  const room = (longestNames[type] ?? 200) - hash.length - 1
  return `${`${stack}-${logicalId}`.slice(0, room)}-${hash}`
}

/**
 * The identity of a resource.
 * @param given resolves the property that names the resource.
 */
export const identifyResource = (
  stack: string,
  logicalId: string,
  { Type: type, Properties = {} }: TemplateResource,
  { place: { accountId, region, partition }, queueUrl }: Naming,
  given: (value: unknown) => unknown,
): Identity => {
  const explicit = nameProperties[type] === undefined ? undefined : (Properties as JsonObject)[nameProperties[type]]
  const name = explicit === undefined ? makeUpName(stack, logicalId, type) : String(given(explicit))
  const id = asUuid(digestOf(`${stack}/${logicalId}`))
  const arnOf = (service: string, resource: string, place = `${region}:${accountId}`) =>
    `arn:${partition}:${service}:${place}:${resource}`
  const identity = (ref: string, arn: string, attributes: Record<string, string> = {}): Identity => ({
    name,
    arn,
    ref,
    attributes: { Arn: arn, ...attributes },
  })
  switch (type) {
    case 'AWS::DynamoDB::Table':
      return identity(name, arnOf('dynamodb', `table/${name}`), {
        StreamArn: arnOf('dynamodb', `table/${name}/stream/2026-01-01T00:00:00.000`),
      })
    case 'AWS::SNS::Topic': {
      const arn = arnOf('sns', name)
      return identity(arn, arn, { TopicArn: arn, TopicName: name })
    }
    case 'AWS::SNS::Subscription': {
      const arn = arnOf('sns', `${name}:${id}`)
      return identity(arn, arn)
    }
    case 'AWS::SQS::Queue':
      return identity(queueUrl(name), arnOf('sqs', name), { QueueName: name, QueueUrl: queueUrl(name) })
    case 'AWS::Lambda::Function':
      return identity(name, arnOf('lambda', `function:${name}`))
    case 'AWS::Lambda::EventSourceMapping':
      return identity(id, arnOf('lambda', `event-source-mapping:${id}`), { Id: id })
    case 'AWS::Scheduler::Schedule':
      return identity(name, arnOf('scheduler', `schedule/${String(given(Properties.GroupName ?? 'default'))}/${name}`))
    case 'AWS::IAM::Role': {
      const path = String(given(Properties.Path ?? '/'))
      return identity(name, arnOf('iam', `role${path}${name}`, `:${accountId}`), {
        RoleId: `AROA${id.slice(0, 8).toUpperCase()}`,
      })
    }
    case 'AWS::IAM::ManagedPolicy': {
      const arn = arnOf('iam', `policy${String(given(Properties.Path ?? '/'))}${name}`, `:${accountId}`)
      return identity(arn, arn)
    }
    case 'AWS::KMS::Key':
      return identity(id, arnOf('kms', `key/${id}`), { KeyId: id })
    case 'AWS::KMS::Alias':
      return identity(name, arnOf('kms', name))
    case 'AWS::CloudWatch::Alarm':
    case 'AWS::CloudWatch::CompositeAlarm':
      return identity(name, arnOf('cloudwatch', `alarm:${name}`))
    case 'AWS::Logs::LogGroup':
      return identity(name, arnOf('logs', `log-group:${name}:*`))
    default:
      return identity(name, arnOf('cloudformation', `${type}/${name}`))
  }
}

/**
 * An attribute of a resource, as `Fn::GetAtt` asks for it.
 * @throws LocalCloudError `template.unresolvable`
 */
export const attributeOf = (identity: Identity, attribute: string, where: string): string => {
  const value = identity.attributes[attribute]
  if (value === undefined)
    throw new LocalCloudError(
      'template.unresolvable',
      `${where} has no attribute ${attribute} that the local cloud knows`,
      `It knows ${Object.keys(identity.attributes).join(', ')}.`,
    )
  return value
}
