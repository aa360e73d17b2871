import type { JsonObject } from '../assembly/template.js'
import type { Queue } from '../deploy/make-queues.js'
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

/** Entries that AWS would not take are reported, and the others sent. */
const sendOthers = async (
  call: Call,
  body: JsonObject,
  failed: readonly FailedEntry[],
  forward: Forward,
): Promise<Answer> => {
  const ids = new Set(failed.map(({ Id }) => Id))
  const others = (body.Entries as readonly JsonObject[]).filter(({ Id: id }) => !ids.has(String(id)))
  if (others.length === 0) return jsonAnswer({ Successful: [], Failed: failed })
  const answer = await forward(call, JSON.stringify({ ...body, Entries: others }))
  if (answer.status !== 200) return answer
  const sent = JSON.parse(answer.body.toString()) as { Successful: unknown[]; Failed?: unknown[] }
  return jsonAnswer({ Successful: sent.Successful, Failed: [...(sent.Failed ?? []), ...failed] })
}

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
      return failed.length > 0 ? sendOthers(call, there, failed, forward) : forward(call, JSON.stringify(there))
    },
  }
}
