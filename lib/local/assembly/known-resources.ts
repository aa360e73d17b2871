import { LocalCloudError } from '../local-error.js'
import type { TemplateResource } from './template.js'

/**
 * Resources that act locally, with the properties that are honoured or change nothing here. A property that is not here
 * would be silently left out, so it is refused. (`Tags` and `Description` are always allowed.)
 */
const acting: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::Table': [
    ...['TableName', 'KeySchema', 'AttributeDefinitions', 'BillingMode', 'ProvisionedThroughput', 'SSESpecification'],
    ...['OnDemandThroughput', 'TimeToLiveSpecification', 'PointInTimeRecoverySpecification', 'TableClass'],
    ...['DeletionProtectionEnabled', 'ContributorInsightsSpecification', 'StreamSpecification'],
  ],
  'AWS::SNS::Topic': ['TopicName', 'DisplayName', 'KmsMasterKeyId', 'TracingConfig', 'SignatureVersion'],
  'AWS::SNS::Subscription': [
    ...['TopicArn', 'Protocol', 'Endpoint', 'RawMessageDelivery', 'FilterPolicy', 'FilterPolicyScope'],
    ...['RedrivePolicy', 'Region'],
  ],
  'AWS::SNS::TopicPolicy': ['PolicyDocument', 'Topics'],
  'AWS::SQS::Queue': [
    ...['QueueName', 'DelaySeconds', 'VisibilityTimeout', 'MessageRetentionPeriod', 'MaximumMessageSize'],
    ...['ReceiveMessageWaitTimeSeconds', 'RedrivePolicy', 'RedriveAllowPolicy', 'KmsMasterKeyId'],
    ...['KmsDataKeyReusePeriodSeconds', 'SqsManagedSseEnabled'],
  ],
  'AWS::SQS::QueuePolicy': ['PolicyDocument', 'Queues'],
  'AWS::Lambda::Function': [
    ...['FunctionName', 'Code', 'Handler', 'Runtime', 'Role', 'Environment', 'MemorySize', 'Timeout', 'Architectures'],
    ...[
      'ReservedConcurrentExecutions',
      'PackageType',
      'LoggingConfig',
      'TracingConfig',
      'KmsKeyArn',
      'DeadLetterConfig',
    ],
    ...['EphemeralStorage', 'RecursiveLoop', 'RuntimeManagementConfig'],
  ],
  'AWS::Lambda::EventSourceMapping': [
    ...['EventSourceArn', 'FunctionName', 'BatchSize', 'MaximumBatchingWindowInSeconds', 'FunctionResponseTypes'],
    ...['ScalingConfig', 'Enabled', 'KmsKeyArn', 'MetricsConfig'],
  ],
  'AWS::Lambda::EventInvokeConfig': [
    ...['FunctionName', 'Qualifier', 'MaximumRetryAttempts', 'MaximumEventAgeInSeconds', 'DestinationConfig'],
  ],
  'AWS::Scheduler::Schedule': [
    ...['Name', 'GroupName', 'ScheduleExpression', 'ScheduleExpressionTimezone', 'FlexibleTimeWindow', 'State'],
    ...['Target', 'StartDate', 'EndDate', 'KmsKeyArn'],
  ],
  'AWS::IAM::Role': [
    ...['RoleName', 'Path', 'AssumeRolePolicyDocument', 'Policies', 'ManagedPolicyArns', 'MaxSessionDuration'],
  ],
  'AWS::IAM::Policy': ['PolicyName', 'PolicyDocument', 'Roles'],
  'AWS::IAM::ManagedPolicy': ['ManagedPolicyName', 'Path', 'PolicyDocument', 'Roles'],
  'AWS::KMS::Key': [
    ...[
      'KeyPolicy',
      'Enabled',
      'EnableKeyRotation',
      'RotationPeriodInDays',
      'PendingWindowInDays',
      'KeySpec',
      'KeyUsage',
    ],
    ...['MultiRegion', 'Origin'],
  ],
}

/** Resources that have nothing to do while an app runs. */
const inert: readonly string[] = [
  'AWS::CDK::Metadata',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::CompositeAlarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::KMS::Alias',
  'AWS::Lambda::Permission',
  'AWS::Lambda::Version',
  'AWS::Logs::LogGroup',
  'AWS::Logs::MetricFilter',
  'AWS::Logs::QueryDefinition',
]

/** Whether a type of resource acts locally; `false` when it is inert. */
export const isActing = (type: string): boolean => acting[type] !== undefined

/**
 * Refuses a resource that must act and is unknown, and a property that would not be honoured.
 * @throws LocalCloudError `resource.unknown` or `resource.unknown-property`, naming the resource
 */
export const checkKnown = (
  path: string,
  { Type: type, Properties = {}, Condition: condition }: TemplateResource,
): void => {
  if (inert.includes(type)) return
  const known = acting[type]
  if (known === undefined)
    throw new LocalCloudError(
      'resource.unknown',
      `${path} is an ${type}, which the local cloud does not know`,
      'Leave it out of the app that is run locally, or teach lib/local what it does.',
    )
  if (condition !== undefined)
    throw new LocalCloudError(
      'resource.unknown-property',
      `${path} (${type}) has the condition ${condition}, which the local cloud does not evaluate`,
      'Decide in the app whether the resource is made.',
    )
  for (const name of Object.keys(Properties))
    if (!known.includes(name) && name !== 'Tags' && name !== 'Description')
      throw new LocalCloudError(
        'resource.unknown-property',
        `${path} (${type}) has the property ${name}, which the local cloud does not know and would not honour`,
        'Leave it out of the app that is run locally, or teach lib/local what it does.',
      )
}
