import {
  DeleteMessageBatchCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SendMessageCommand,
  type SendMessageCommandInput,
} from '@aws-sdk/client-sqs'
import { expect, it } from 'vitest'
import { clientsOf, messagesIn, textAttributes } from '../support/clients.js'
import { queue } from '../support/resources.js'
import { shareCloud } from '../support/start-cloud.js'

const under = shareCloud({ ...queue('Orders'), ...queue('Astral'), ...queue('Small', { MaximumMessageSize: 1024 }) })

const send = (input: Partial<SendMessageCommandInput>, name = 'Orders') =>
  clientsOf(under.cloud).sqs.send(
    new SendMessageCommand({ QueueUrl: under.cloud.queueUrl(name), MessageBody: 'body', ...input }),
  )

const sendBatch = (entries: readonly Partial<SendMessageBatchRequestEntry>[]) =>
  clientsOf(under.cloud).sqs.send(
    new SendMessageBatchCommand({
      QueueUrl: under.cloud.queueUrl('Orders'),
      Entries: entries.map((entry, place) => ({ Id: String(place), MessageBody: 'body', ...entry })),
    }),
  )

it.each([0, 1, 900])('a delay of %d seconds is taken', async (DelaySeconds) => {
  await expect(send({ DelaySeconds })).resolves.toHaveProperty('MessageId')
})

it.each([-1, 901, 1.5, 54524])('a delay of %d seconds is refused', async (DelaySeconds) => {
  await expect(send({ DelaySeconds })).rejects.toThrow(/DelaySeconds/)
})

it('ten attributes are taken and eleven refused', async () => {
  const attributes = (count: number) =>
    textAttributes(Object.fromEntries(Array.from({ length: count }, (_, place) => [`a${place}`, 'x'])))
  await expect(send({ MessageAttributes: attributes(10) })).resolves.toHaveProperty('MessageId')
  await expect(send({ MessageAttributes: attributes(11) })).rejects.toThrow(/attributes \[11\]/)
})

it('an attribute that is empty is refused', async () => {
  await expect(send({ MessageAttributes: textAttributes({ route: '' }) })).rejects.toThrow(
    /'route' must contain non-empty/,
  )
})

it.each(['a b', '.a', 'a..b', 'aws.x', 'Amazon.x'])('the attribute name %j is refused', async (name) => {
  await expect(send({ MessageAttributes: textAttributes({ [name]: 'x' }) })).rejects.toThrow(/is invalid/)
})

it('characters that XML does not know are refused', async () => {
  await expect(send({ MessageBody: 'a\uFFFE' })).rejects.toThrow(/Invalid characters/)
  await expect(send({ MessageBody: 'a\u0000' })).rejects.toThrow(/Invalid characters/)
})

it('the bytes of attributes count', async () => {
  const body = 'x'.repeat(1024 * 1024 - 20)
  await expect(send({ MessageBody: body })).resolves.toHaveProperty('MessageId')
  await expect(send({ MessageBody: body, MessageAttributes: textAttributes({ a: 'y'.repeat(14) }) })).rejects.toThrow(
    /shorter than 1048576/,
  )
  await expect(send({ MessageBody: 'x'.repeat(1025) }, 'Small')).rejects.toThrow(/shorter than 1024/)
})

it('a batch has one to ten entries with distinct, valid ids', async () => {
  const entries = (count: number) => Array.from({ length: count }, () => ({}))
  await expect(sendBatch(entries(10))).resolves.toHaveProperty('Successful')
  await expect(sendBatch(entries(11))).rejects.toMatchObject({ name: 'TooManyEntriesInBatchRequest' })
  await expect(sendBatch([])).rejects.toMatchObject({ name: 'EmptyBatchRequest' })
  await expect(sendBatch([{ Id: 'a' }, { Id: 'a' }])).rejects.toMatchObject({ name: 'BatchEntryIdsNotDistinct' })
  await expect(sendBatch([{ Id: 'a b' }])).rejects.toMatchObject({ name: 'InvalidBatchEntryId' })
  const half = 'x'.repeat(600 * 1024)
  await expect(sendBatch([{ MessageBody: half }, { MessageBody: half }])).rejects.toMatchObject({
    name: 'BatchRequestTooLong',
  })
  await expect(
    clientsOf(under.cloud).sqs.send(
      new DeleteMessageBatchCommand({
        QueueUrl: under.cloud.queueUrl('Orders'),
        Entries: Array.from({ length: 11 }, (_, place) => ({ Id: String(place), ReceiptHandle: 'x' })),
      }),
    ),
  ).rejects.toMatchObject({ name: 'TooManyEntriesInBatchRequest' })
})

it('an entry that is refused does not keep the others from being sent', async () => {
  const { Successful: sent = [], Failed: failed = [] } = await sendBatch([{}, { DelaySeconds: 901 }, {}])
  expect(sent.map(({ Id }) => Id)).toEqual(['0', '2'])
  expect(failed).toMatchObject([{ Id: '1', SenderFault: true, Code: 'InvalidParameterValue' }])
  const all = await sendBatch([{ DelaySeconds: -1 }])
  expect(all.Failed).toHaveLength(1)
})

it('a queue is found by its name, and a missing one is told', async () => {
  const { sqs } = clientsOf(under.cloud)
  const name = under.cloud.queueUrl('Orders').split('/').at(-1)
  expect(await sqs.send(new GetQueueUrlCommand({ QueueName: name }))).toMatchObject({
    QueueUrl: under.cloud.queueUrl('Orders'),
  })
  await expect(
    sqs.send(new ReceiveMessageCommand({ QueueUrl: `${under.cloud.endpoint}/000000000000/nowhere` })),
  ).rejects.toMatchObject({ name: 'QueueDoesNotExist' })
})

it('characters above U+FFFF, which the emulator refuses, pass as they are', async () => {
  const bodies = ['😀\t\n\uE000', '\uE000000000 plain']
  await send({ MessageBody: bodies[0] }, 'Astral')
  await clientsOf(under.cloud).sqs.send(
    new SendMessageBatchCommand({
      QueueUrl: under.cloud.queueUrl('Astral'),
      Entries: [{ Id: 'a', MessageBody: bodies[1] }],
    }),
  )
  const messages = await messagesIn(under.cloud, 'Astral')
  expect(messages.map(({ Body }) => Body).sort()).toEqual([...bodies].sort())
})

it('what is sent is received, with its attributes', async () => {
  await send({ MessageBody: '{"small":1}', MessageAttributes: textAttributes({ route: 'a/b' }) }, 'Small')
  const [message] = await messagesIn(under.cloud, 'Small')
  expect(message?.Body).toBe('{"small":1}')
  expect(message?.MessageAttributes?.route?.StringValue).toBe('a/b')
})
