import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { expect, it } from 'vitest'
import { clientsOf, messagesIn } from '../support/clients.js'
import {
  allow,
  anyResource,
  arnOf,
  lambda,
  letTopicSend,
  queue,
  type Resources,
  ref,
  role,
  subscription,
  table,
  topic,
} from '../support/resources.js'
import { shareCloud } from '../support/start-cloud.js'

const keyFor = (logicalId: string): Resources =>
  anyResource(logicalId, 'AWS::KMS::Key', {
    KeyPolicy: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Action: 'kms:*',
          Resource: '*',
          Principal: { AWS: { 'Fn::Join': ['', ['arn:aws:iam::', ref('AWS::AccountId'), ':root']] } },
        },
        {
          Effect: 'Allow',
          Action: ['kms:GenerateDataKey*', 'kms:Decrypt'],
          Resource: '*',
          Principal: { Service: 'sns.amazonaws.com' },
        },
      ],
    },
  })

const onlyDue = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['due#*', 'body#*'] } }

const under = shareCloud({
  ...table('Rows', { TableName: 'rows' }),
  ...table('Other', { TableName: 'other' }),
  ...table('Sealed', { TableName: 'sealed', SSESpecification: { SSEEnabled: true, KMSMasterKeyId: arnOf('Key') } }),
  ...keyFor('Key'),
  ...queue('Orders', { QueueName: 'orders' }),
  ...queue('SealedQueue', { QueueName: 'sealed', KmsMasterKeyId: ref('Key') }),
  ...queue('Guarded', { QueueName: 'guarded' }),
  ...anyResource('GuardedPolicy', 'AWS::SQS::QueuePolicy', {
    Queues: [ref('Guarded')],
    PolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        { Effect: 'Deny', Action: 'sqs:SendMessage', Principal: '*', Resource: arnOf('Guarded') },
        {
          Effect: 'Deny',
          Action: 'sqs:*',
          Principal: '*',
          Resource: arnOf('Guarded'),
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        },
      ],
    },
  }),
  ...topic('Messages', { TopicName: 'messages' }),
  ...letTopicSend('Messages', ['Orders']),
  ...subscription('ToOrders', 'Messages', 'Orders'),
  ...lambda('Sender', 'caller', [
    allow(['dynamodb:PartiQLInsert', 'dynamodb:PutItem', 'dynamodb:GetItem'], arnOf('Rows'), onlyDue),
    allow(['sns:Publish'], ref('Messages')),
    allow(['sqs:SendMessage', 'sqs:ReceiveMessage'], [arnOf('Guarded'), arnOf('SealedQueue')]),
    allow(['dynamodb:GetItem'], arnOf('Sealed')),
  ]),
  ...lambda('KeyHolder', 'caller', [
    allow(['sqs:SendMessage'], arnOf('SealedQueue')),
    allow(['dynamodb:GetItem'], arnOf('Sealed')),
    allow(['kms:GenerateDataKey*', 'kms:Decrypt'], arnOf('Key')),
  ]),
  ...lambda('Powerless', 'caller'),
  ...role('Unused', 'scheduler.amazonaws.com', []),
})

type Answer = { error?: { name: string; message: string } } & Record<string, unknown>

const callAs = async (name: string, ...calls: readonly [string, string, object][]): Promise<readonly Answer[]> => {
  const { payload, error } = await under.cloud.invoke(name, { calls })
  expect(error).toBeUndefined()
  return payload as readonly Answer[]
}

const key = (pk: string) => ({ pk: { S: pk }, sk: { S: '1' } })
const topicArn = 'arn:aws:sns:us-east-1:000000000000:messages'

it('what the role allows is done', async () => {
  const [put, read, insert, publish] = await callAs(
    'Sender',
    ['dynamodb', 'PutItem', { TableName: 'rows', Item: key('due#1') }],
    ['dynamodb', 'GetItem', { TableName: 'rows', Key: key('due#1') }],
    [
      'dynamodb',
      'ExecuteStatement',
      { Statement: `INSERT INTO "rows" VALUE {'pk': ?, 'sk': ?}`, Parameters: [{ S: 'body#1' }, { S: 'x' }] },
    ],
    ['sns', 'Publish', { TopicArn: topicArn, Message: 'hello' }],
  )
  expect(put).toEqual({})
  expect(read).toEqual({ Item: key('due#1') })
  expect(insert?.error).toBeUndefined()
  expect(publish).toHaveProperty('MessageId')
  expect((await messagesIn(under.cloud, 'Orders')).map(({ Body }) => Body)).toEqual(['hello'])
})

it('what it does not allow fails, naming function, action and resource', async () => {
  const [answer] = await callAs('Sender', ['dynamodb', 'DeleteItem', { TableName: 'rows', Key: key('due#1') }])
  expect(answer?.error?.name).toBe('AccessDeniedException')
  expect(answer?.error?.message).toMatch(
    /assumed-role\/Demo-SenderRole-\w+\/Demo-Sender-\w+ is not authorized to perform: dynamodb:DeleteItem on resource: arn:aws:dynamodb:us-east-1:000000000000:table\/rows .*\(the function Demo\/Sender\)/,
  )
  expect(under.cloud.denials()).toContainEqual(
    expect.objectContaining({ path: 'Demo/Sender', action: 'dynamodb:DeleteItem' }),
  )
  expect(under.lines.some((line) => /^AccessDenied: .*dynamodb:DeleteItem/.test(line))).toBe(true)
})

it('each service refuses in its own words', async () => {
  const [dynamodb, sns, sqs] = await callAs(
    'Powerless',
    ['dynamodb', 'GetItem', { TableName: 'rows', Key: key('due#1') }],
    ['sns', 'Publish', { TopicArn: topicArn, Message: 'hello' }],
    ['sqs', 'SendMessage', { QueueUrl: under.cloud.queueUrl('Orders'), MessageBody: 'hello' }],
  )
  expect(dynamodb?.error?.name).toBe('AccessDeniedException')
  expect(sns?.error?.name).toBe('AuthorizationErrorException')
  expect(sqs?.error?.name).toMatch(/AccessDenied/)
  expect(sns?.error?.message).toContain('not authorized to perform: sns:Publish on resource: arn:aws:sns')
  expect(sqs?.error?.message).toContain('not authorized to perform: sqs:SendMessage on resource: arn:aws:sqs')
  expect(await messagesIn(under.cloud, 'Orders')).toEqual([])
})

it('a grant of one table, or of some partition keys, is not a grant of others', async () => {
  const [otherTable, otherKey, insert] = await callAs(
    'Sender',
    ['dynamodb', 'PutItem', { TableName: 'other', Item: key('due#1') }],
    ['dynamodb', 'GetItem', { TableName: 'rows', Key: key('control') }],
    ['dynamodb', 'ExecuteStatement', { Statement: `INSERT INTO "rows" VALUE {'pk': 'dead#1', 'sk': 'x'}` }],
  )
  expect(otherTable?.error?.name).toBe('AccessDeniedException')
  expect(otherKey?.error?.name).toBe('AccessDeniedException')
  expect(insert?.error?.message).toContain('dynamodb:PartiQLInsert')
})

it('a batch of statements is judged statement by statement', async () => {
  const insert = (pk: string) => ({
    Statement: `INSERT INTO "rows" VALUE {'pk': ?, 'sk': ?}`,
    Parameters: [{ S: pk }, { S: 'batch' }],
  })
  const [mixed, denied] = await callAs(
    'Sender',
    ['dynamodb', 'BatchExecuteStatement', { Statements: [insert('due#5'), insert('dead#5'), insert('due#6')] }],
    ['dynamodb', 'BatchExecuteStatement', { Statements: [insert('dead#5')] }],
  )
  const errors = (answer: Answer | undefined) =>
    ((answer?.Responses ?? []) as readonly { Error?: { Code: string } }[]).map(({ Error: error }) => error?.Code)
  expect(errors(mixed)).toEqual([undefined, 'AccessDenied', undefined])
  expect(errors(denied)).toEqual(['AccessDenied'])
})

it('a statement of a resource that denies wins over a grant', async () => {
  const QueueUrl = under.cloud.queueUrl('Guarded')
  const [sent, received] = await callAs(
    'Sender',
    ['sqs', 'SendMessage', { QueueUrl, MessageBody: 'x' }],
    ['sqs', 'ReceiveMessage', { QueueUrl }],
  )
  expect(sent?.error?.message).toContain('explicit deny')
  expect(received?.error).toBeUndefined()
})

it("a resource under a customer's key needs the key, too", async () => {
  const calls: readonly [string, string, object][] = [
    ['sqs', 'SendMessage', { QueueUrl: under.cloud.queueUrl('SealedQueue'), MessageBody: 'x' }],
    ['dynamodb', 'GetItem', { TableName: 'sealed', Key: key('a') }],
  ]
  const [sent, read] = await callAs('Sender', ...calls)
  expect(sent?.error?.name).toMatch(/KmsAccessDenied/)
  expect(sent?.error?.message).toContain('kms:GenerateDataKey on resource: arn:aws:kms')
  expect(read?.error?.message).toContain('kms:Decrypt')
  const allowed = await callAs('KeyHolder', ...calls)
  expect(allowed.map(({ error }) => error)).toEqual([undefined, undefined])
})

it('whoever runs the cloud may do everything', async () => {
  await expect(
    clientsOf(under.cloud).dynamodb.send(new PutItemCommand({ TableName: 'other', Item: key('x') })),
  ).resolves.toBeDefined()
})

it('a batch of more than 25 statements is refused', async () => {
  const Statements = Array.from({ length: 26 }, (_, place) => ({
    Statement: `INSERT INTO "rows" VALUE {'pk': 'due#1', 'sk': 'many${place}'}`,
  }))
  const [answer] = await callAs('Sender', ['dynamodb', 'BatchExecuteStatement', { Statements }])
  expect(answer?.error?.name).toBe('ValidationException')
})
