import type { JsonObject } from '../assembly/template.js'
import { md5Of, toEmulatorBody } from '../deploy/emulator-body.js'
import type { Queue } from '../deploy/make-queues.js'
import { asSent, type ReceivedMessage } from '../deploy/queue-client.js'
import { type Answer, jsonAnswer, jsonRefusal, type Refusal, refuseAccess } from './answer.js'
import type { Call } from './caller.js'
import type { Forward } from './forward-call.js'
import { type FailedEntry, judgeQueueCall } from './queue-rules.js'
import { type Service, targetOf } from './service.js'

/** The action that each operation needs on its queue. Batches need that of the single call. */
const actions: Readonly<Record<string, string>> = {
  SendMessage: 'sqs:SendMessage',
  SendMessageBatch: 'sqs:SendMessage',
  ReceiveMessage: 'sqs:ReceiveMessage',
  DeleteMessage: 'sqs:DeleteMessage',
  DeleteMessageBatch: 'sqs:DeleteMessage',
  ChangeMessageVisibility: 'sqs:ChangeMessageVisibility',
  ChangeMessageVisibilityBatch: 'sqs:ChangeMessageVisibility',
  GetQueueAttributes: 'sqs:GetQueueAttributes',
  GetQueueUrl: 'sqs:GetQueueUrl',
  PurgeQueue: 'sqs:PurgeQueue',
}

/** The error that SQS also writes into a header, for clients that know it by its older name. */
const refuse = (refusal: Refusal): Answer => {
  const answer = jsonRefusal(refusal, 'com.amazonaws.sqs')
  return { ...answer, headers: { ...answer.headers, 'x-amzn-query-error': `${refusal.code};Sender` } }
}

const missingQueue = refuse({ code: 'QueueDoesNotExist', message: 'The specified queue does not exist.' })

type Json = Readonly<Record<string, unknown>>

const asJson = (answer: Answer, change: (body: Json) => Json): Answer =>
  answer.status === 200 ? jsonAnswer(change(JSON.parse(answer.body.toString()) as Json)) : answer

const entriesOf = (body: JsonObject): readonly JsonObject[] => (body.Entries ?? []) as readonly JsonObject[]

const encoded = (entry: JsonObject): JsonObject => ({
  ...entry,
  MessageBody: toEmulatorBody(String(entry.MessageBody)),
})

const send = async (call: Call, body: JsonObject, forward: Forward): Promise<Answer> =>
  asJson(await forward(call, JSON.stringify(encoded(body))), (sent) => ({
    ...sent,
    MD5OfMessageBody: md5Of(String(body.MessageBody)),
  }))

/** Entries that AWS would not take are reported, and the others sent. */
const sendBatch = async (
  call: Call,
  body: JsonObject,
  failed: readonly FailedEntry[],
  forward: Forward,
): Promise<Answer> => {
  const refused = new Set(failed.map(({ Id }) => Id))
  const others = entriesOf(body).filter(({ Id: id }) => !refused.has(String(id)))
  if (others.length === 0) return jsonAnswer({ Successful: [], Failed: failed })
  const digests = new Map(others.map(({ Id: id, MessageBody: text }) => [id, md5Of(String(text))]))
  const answer = await forward(call, JSON.stringify({ ...body, Entries: others.map(encoded) }))
  return asJson(answer, ({ Successful: sent, Failed: alsoFailed = [] }) => ({
    Successful: (sent as readonly Json[]).map((entry) => ({ ...entry, MD5OfMessageBody: digests.get(entry.Id) })),
    Failed: [...(alsoFailed as readonly unknown[]), ...failed],
  }))
}

const receive = async (call: Call, body: JsonObject, forward: Forward): Promise<Answer> =>
  asJson(await forward(call, JSON.stringify(body)), ({ Messages: messages, ...rest }) => ({
    ...rest,
    ...(Array.isArray(messages) && { Messages: (messages as ReceivedMessage[]).map(asSent) }),
  }))

/** SQS: IAM and AWS's rules, then the emulator, under the queue's address there. */
export const makeSqsService = (queues: readonly Queue[], forward: Forward): Service => {
  const byName = new Map(queues.map((queue) => [queue.name, queue]))
  return {
    handle: async (call) => {
      const operation = targetOf(call)
      const body = JSON.parse(call.body.toString('utf8')) as JsonObject
      const action = actions[operation]
      const name = String(
        body.QueueName ??
          String(body.QueueUrl ?? '')
            .split('/')
            .at(-1),
      )
      const queue = byName.get(name)
      if (action === undefined || queue === undefined) {
        if (call.caller.path === undefined) return forward(call, call.body)
        return action === undefined ? undefined : missingQueue
      }
      const denial = await call.caller.deny({ action, resource: queue.arn })
      if (denial !== undefined) return refuse(refuseAccess('sqs', denial))
      if (operation === 'GetQueueUrl') return jsonAnswer({ QueueUrl: queue.url })
      const { refusal, failed = [] } = judgeQueueCall(operation, body)
      if (refusal !== undefined) return refuse(refusal)
      const there = { ...body, QueueUrl: queue.emulatorUrl }
      if (operation === 'SendMessage') return send(call, there, forward)
      if (operation === 'SendMessageBatch') return sendBatch(call, there, failed, forward)
      return operation === 'ReceiveMessage' ? receive(call, there, forward) : forward(call, JSON.stringify(there))
    },
  }
}
