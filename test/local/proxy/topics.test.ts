import {
  ListSubscriptionsByTopicCommand,
  PublishBatchCommand,
  type PublishBatchRequestEntry,
  PublishCommand,
  type PublishCommandInput,
} from '@aws-sdk/client-sns'
import { expect, it } from 'vitest'
import { clientsOf, messagesIn, textAttributes } from '../support/clients.js'
import { anyResource, arnOf, letTopicSend, queue, ref, subscription, topic } from '../support/resources.js'
import { shareCloud } from '../support/start-cloud.js'

const redrive = (name: string) => ({ RedrivePolicy: { deadLetterTargetArn: arnOf(name) } })

const keyPolicy = (service?: string) => ({
  KeyPolicy: {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Action: 'kms:*',
        Resource: '*',
        Principal: { AWS: { 'Fn::Sub': ['arn:aws:iam::$' + '{Account}:root', { Account: ref('AWS::AccountId') }] } },
      },
      ...(service === undefined
        ? []
        : [
            {
              Effect: 'Allow',
              Action: ['kms:GenerateDataKey', 'kms:Decrypt'],
              Resource: '*',
              Principal: { Service: service },
            },
          ]),
    ],
  },
})

const under = shareCloud({
  ...topic('Messages', { TopicName: 'messages' }),
  ...topic('Quiet', { TopicName: 'quiet' }),
  ...queue('Orders'),
  ...queue('Wrapped'),
  ...queue('Everything'),
  ...queue('Closed'),
  ...queue('ClosedWithout'),
  ...queue('Undelivered'),
  ...queue('Locked', { KmsMasterKeyId: arnOf('OwnKey') }),
  ...queue('Unlocked', { KmsMasterKeyId: arnOf('SharedKey') }),
  ...queue('LockedOut'),
  ...anyResource('OwnKey', 'AWS::KMS::Key', keyPolicy()),
  ...anyResource('SharedKey', 'AWS::KMS::Key', keyPolicy('sns.amazonaws.com')),
  ...letTopicSend('Messages', ['Orders', 'Wrapped', 'Everything', 'Undelivered', 'Locked', 'Unlocked', 'LockedOut']),
  ...subscription('ToOrders', 'Messages', 'Orders', {
    FilterPolicy: { route: ['orders/place', '@billing'] },
    ...redrive('Undelivered'),
  }),
  ...subscription('ToWrapped', 'Messages', 'Wrapped', {
    RawMessageDelivery: false,
    FilterPolicy: { route: ['wrapped'] },
  }),
  ...subscription('ToClosed', 'Messages', 'Closed', { FilterPolicy: { route: ['closed'] }, ...redrive('Undelivered') }),
  ...subscription('ToClosedWithout', 'Messages', 'ClosedWithout', { FilterPolicy: { route: ['closed'] } }),
  ...subscription('ToLocked', 'Messages', 'Locked', { FilterPolicy: { route: ['key'] }, ...redrive('LockedOut') }),
  ...subscription('ToUnlocked', 'Messages', 'Unlocked', { FilterPolicy: { route: ['key'] } }),
  ...subscription('ToEverything', 'Messages', 'Everything'),
})

const topicArn = 'arn:aws:sns:us-east-1:000000000000:messages'

const publish = (input: Partial<PublishCommandInput>) =>
  clientsOf(under.cloud).sns.send(new PublishCommand({ TopicArn: topicArn, Message: 'body', ...input }))

const publishTo = (route: string, Message: string) => publish({ Message, MessageAttributes: textAttributes({ route }) })

const publishBatch = (entries: readonly Partial<PublishBatchRequestEntry>[]) =>
  clientsOf(under.cloud).sns.send(
    new PublishBatchCommand({
      TopicArn: topicArn,
      PublishBatchRequestEntries: entries.map((entry, place) => ({ Id: String(place), Message: 'body', ...entry })),
    }),
  )

const bodiesIn = async (name: string) => (await messagesIn(under.cloud, name)).map(({ Body }) => Body)

const counted = async (name: string) =>
  (await under.cloud.metrics()).filter((sample) => sample.name === name && sample.dimensions.TopicName === 'messages')
    .length

it('a message reaches the queues whose filter it passes, and its attributes with it', async () => {
  await publishTo('orders/place', '{"orderId":"1"}')
  await publishTo('other', 'not for orders')
  const messages = await messagesIn(under.cloud, 'Orders')
  expect(messages.map(({ Body }) => Body)).toEqual(['{"orderId":"1"}'])
  expect(messages[0]?.MessageAttributes?.route?.StringValue).toBe('orders/place')
  expect((await bodiesIn('Everything')).length).toBeGreaterThanOrEqual(2)
})

it('without raw delivery the message comes in an envelope', async () => {
  await publishTo('wrapped', 'a "body"')
  const [body] = await bodiesIn('Wrapped')
  expect(JSON.parse(body ?? '')).toMatchObject({
    Type: 'Notification',
    TopicArn: topicArn,
    Message: 'a "body"',
    MessageAttributes: { route: { Type: 'String', Value: 'wrapped' } },
  })
})

it('a batch is published entry by entry', async () => {
  const { Successful: sent = [] } = await publishBatch([
    { Message: '<&>"\'\n', MessageAttributes: textAttributes({ route: '@billing' }) },
    { Message: 'ü😀', MessageAttributes: textAttributes({ route: 'orders/place' }) },
  ])
  expect(sent.map(({ Id }) => Id)).toEqual(['0', '1'])
  expect([...(await bodiesIn('Orders'))].sort()).toEqual(['<&>"\'\n', 'ü😀'])
})

it.each([
  ['eleven entries', Array.from({ length: 11 }, () => ({})), 'TooManyEntriesInBatchRequest'],
  ['no entry', [], 'EmptyBatchRequest'],
  ['equal ids', [{ Id: 'a' }, { Id: 'a' }], 'BatchEntryIdsNotDistinct'],
  ['an invalid id', [{ Id: 'ä' }], 'InvalidBatchEntryId'],
  ['an empty attribute', [{}, { MessageAttributes: textAttributes({ route: '' }) }], 'InvalidParameterValue'],
  [
    'too many bytes together',
    [{ Message: 'x'.repeat(200_000) }, { Message: 'x'.repeat(70_000) }],
    'BatchRequestTooLong',
  ],
  [
    'too many bytes with attributes',
    [{ Message: 'x'.repeat(262_100), MessageAttributes: textAttributes({ route: 'y'.repeat(40) }) }],
    'BatchRequestTooLong',
  ],
])('a batch with %s is refused whole', async (_, entries, name) => {
  const before = await counted('NumberOfMessagesPublished')
  await expect(publishBatch(entries)).rejects.toMatchObject({ name: expect.stringMatching(`^${name}(Exception)?$`) })
  expect(await counted('NumberOfMessagesPublished')).toBe(before)
})

it('a message of 256 KiB passes, and one byte more is refused', async () => {
  await expect(publish({ Message: 'x'.repeat(262_144) })).resolves.toHaveProperty('MessageId')
  await expect(publish({ Message: 'x'.repeat(262_145) })).rejects.toThrow(/too long/)
})

it('raw delivery discards a message with more than ten attributes, and says so', async () => {
  const many = Object.fromEntries(Array.from({ length: 10 }, (_, place) => [`a${place}`, 'x']))
  const failures = await counted('NumberOfNotificationsFailed')
  await publish({ Message: 'eleven', MessageAttributes: textAttributes({ route: 'orders/place', ...many }) })
  expect(await bodiesIn('Orders')).toEqual([])
  expect(await bodiesIn('Undelivered')).toEqual([])
  expect((await counted('NumberOfNotificationsFailed')) - failures).toBe(2)
  expect(under.lines.some((line) => /Demo\/ToOrders.* discarded a message with 11 attributes/.test(line))).toBe(true)
})

it('a queue whose policy does not let the topic in gets nothing: the message goes to the dead-letter queue', async () => {
  const failures = await counted('NumberOfNotificationsFailed')
  await publishTo('closed', 'knock')
  expect(await bodiesIn('Closed')).toEqual([])
  expect(await bodiesIn('Undelivered')).toEqual(['knock'])
  expect((await counted('NumberOfNotificationsFailed')) - failures).toBe(2)
  expect(await counted('NumberOfNotificationsRedrivenToDlq')).toBe(1)
})

it('without a dead-letter queue it is lost, and a line says so', async () => {
  await publishTo('closed', 'knock again')
  expect(await bodiesIn('ClosedWithout')).toEqual([])
  expect(
    under.lines.some((line) =>
      /ToClosedWithout.*lost.*sns.amazonaws.com is not authorized.*sqs:SendMessage/.test(line),
    ),
  ).toBe(true)
})

it('an encrypted queue gets nothing when the policy of its key forgets SNS', async () => {
  await publishTo('key', 'encrypted')
  expect(await bodiesIn('Locked')).toEqual([])
  expect(await bodiesIn('LockedOut')).toEqual(['encrypted'])
  expect(await bodiesIn('Unlocked')).toEqual(['encrypted'])
})

it('a topic that is missing is told, and one without subscribers takes all', async () => {
  await expect(publish({ TopicArn: `${topicArn}x` })).rejects.toMatchObject({ name: 'NotFoundException' })
  await expect(publish({ TopicArn: topicArn.replace('messages', 'quiet') })).resolves.toHaveProperty('MessageId')
})

it('the emulator answers questions about subscriptions', async () => {
  const { Subscriptions: found = [] } = await clientsOf(under.cloud).sns.send(
    new ListSubscriptionsByTopicCommand({ TopicArn: topicArn }),
  )
  expect(found).toHaveLength(7)
  expect(found.every(({ Endpoint }) => Endpoint?.startsWith('arn:aws:sqs:us-east-1:000000000000:Demo-'))).toBe(true)
})
