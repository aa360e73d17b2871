import type { JsonObject, TemplateResource } from '../../../lib/local/assembly/template.js'

/** Resources by logical id, to be spread into a stack. */
export type Resources = Readonly<Record<string, TemplateResource>>

/** `Fn::GetAtt` of an ARN. */
export const arnOf = (logicalId: string) => ({ 'Fn::GetAtt': [logicalId, 'Arn'] })

/** `Ref`. */
export const ref = (logicalId: string) => ({ Ref: logicalId })

const resource = (type: string, properties: JsonObject, path?: string): TemplateResource => ({
  Type: type,
  Properties: properties,
  ...(path !== undefined && { Metadata: { 'aws:cdk:path': path } }),
})

/** A statement that allows actions on a resource. */
export const allow = (actions: readonly string[], target: unknown, condition?: JsonObject): JsonObject => ({
  Effect: 'Allow',
  Action: actions,
  Resource: target,
  ...(condition !== undefined && { Condition: condition }),
})

const document = (statements: readonly JsonObject[]) => ({ Version: '2012-10-17', Statement: statements })

/** A role that a service may take, with its policy. */
export const role = (logicalId: string, service: string, statements: readonly JsonObject[]): Resources => ({
  [logicalId]: resource('AWS::IAM::Role', {
    AssumeRolePolicyDocument: document([
      { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: service } } as JsonObject,
    ]),
    ManagedPolicyArns: [
      {
        'Fn::Join': ['', ['arn:', ref('AWS::Partition'), ':iam::aws:policy/service-role/AWSLambdaBasicExecutionRole']],
      },
    ],
  }),
  ...(statements.length > 0 && {
    [`${logicalId}Policy`]: resource('AWS::IAM::Policy', {
      PolicyName: `${logicalId}Policy`,
      PolicyDocument: document(statements),
      Roles: [ref(logicalId)],
    }),
  }),
})

/** A function of the fixtures with its role. */
export const lambda = (
  logicalId: string,
  fixture: string,
  statements: readonly JsonObject[] = [],
  properties: JsonObject = {},
): Resources => ({
  ...role(`${logicalId}Role`, 'lambda.amazonaws.com', statements),
  [logicalId]: resource(
    'AWS::Lambda::Function',
    {
      Code: { S3Bucket: 'assets', S3Key: `${fixture}.zip` },
      Handler: 'index.handler',
      Runtime: 'nodejs24.x',
      Timeout: 20,
      Role: arnOf(`${logicalId}Role`),
      ...properties,
    },
    `Demo/${logicalId}/Resource`,
  ),
})

/** A table with `pk` and `sk`. */
export const table = (logicalId: string, properties: JsonObject = {}): Resources => ({
  [logicalId]: resource('AWS::DynamoDB::Table', {
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
    ],
    BillingMode: 'PAY_PER_REQUEST',
    ...properties,
  }),
})

/** A queue. */
export const queue = (logicalId: string, properties: JsonObject = {}): Resources => ({
  [logicalId]: resource('AWS::SQS::Queue', properties, `Demo/${logicalId}/Resource`),
})

/** A policy that lets a topic send to queues. */
export const letTopicSend = (topic: string, queues: readonly string[]): Resources =>
  Object.fromEntries(
    queues.map((name) => [
      `${name}Policy`,
      resource('AWS::SQS::QueuePolicy', {
        Queues: [ref(name)],
        PolicyDocument: document([
          {
            Effect: 'Allow',
            Action: 'sqs:SendMessage',
            Principal: { Service: 'sns.amazonaws.com' },
            Resource: arnOf(name),
            Condition: { ArnEquals: { 'aws:SourceArn': ref(topic) } },
          } as JsonObject,
        ]),
      }),
    ]),
  )

/** A topic. */
export const topic = (logicalId: string, properties: JsonObject = {}): Resources => ({
  [logicalId]: resource('AWS::SNS::Topic', properties, `Demo/${logicalId}/Resource`),
})

/** A subscription of a queue. */
export const subscription = (
  logicalId: string,
  topicId: string,
  queueId: string,
  properties: JsonObject = {},
): Resources => ({
  [logicalId]: resource(
    'AWS::SNS::Subscription',
    {
      TopicArn: ref(topicId),
      Endpoint: arnOf(queueId),
      Protocol: 'sqs',
      RawMessageDelivery: true,
      ...properties,
    },
    `Demo/${logicalId}/Resource`,
  ),
})

/** An event source. */
export const eventSource = (
  logicalId: string,
  functionId: string,
  queueId: string,
  properties: JsonObject = {},
): Resources => ({
  [logicalId]: resource('AWS::Lambda::EventSourceMapping', {
    EventSourceArn: arnOf(queueId),
    FunctionName: ref(functionId),
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    ...properties,
  }),
})

/** What Lambda's pollers need of a queue. */
export const pollerGrants = (queueId: string): JsonObject =>
  allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], arnOf(queueId))

/** A schedule of a function. */
export const schedule = (
  logicalId: string,
  functionId: string,
  roleId: string,
  properties: JsonObject = {},
  target: JsonObject = {},
): Resources => ({
  [logicalId]: resource('AWS::Scheduler::Schedule', {
    ScheduleExpression: 'rate(1 minute)',
    FlexibleTimeWindow: { Mode: 'OFF' },
    Target: { Arn: arnOf(functionId), RoleArn: arnOf(roleId), Input: '{"action":"echo","tick":true}', ...target },
    ...properties,
  }),
})

/** Any other resource. */
export const anyResource = (logicalId: string, type: string, properties: JsonObject = {}): Resources => ({
  [logicalId]: resource(type, properties, `Demo/${logicalId}/Resource`),
})
