import { isObject } from '../assembly/template.js'
import type { ReceivedMessage } from '../deploy/queue-client.js'
import type { Invocation } from '../functions/invocation.js'

/** A response that Lambda does not understand fails the whole batch. */
const failedIds = (payload: unknown, known: ReadonlySet<string>): ReadonlySet<string> | 'all' => {
  if (payload === null || payload === undefined || payload === '') return new Set()
  if (!isObject(payload)) return new Set()
  const { batchItemFailures: failures } = payload
  if (failures === undefined || failures === null) return new Set()
  if (!Array.isArray(failures)) return 'all'
  const ids = new Set<string>()
  for (const failure of failures as readonly unknown[]) {
    const id = isObject(failure) ? failure.itemIdentifier : undefined
    if (typeof id !== 'string' || !known.has(id)) return 'all'
    ids.add(id)
  }
  return ids
}

/**
 * The messages of a batch that are done and may be removed. The others become visible again after their time.
 *
 * A function that failed gets its whole batch back. With partial responses, an empty list (or none) means that all
 * succeeded, and a list that names what is not in the batch means that all failed.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export const succeededMessages = (
  invocation: Pick<Invocation, 'outcome' | 'payload'>,
  messages: readonly ReceivedMessage[],
  partial: boolean,
): readonly ReceivedMessage[] => {
  if (invocation.outcome !== 'ok') return []
  if (!partial) return messages
  const failed = failedIds(invocation.payload, new Set(messages.map(({ MessageId }) => MessageId)))
  return failed === 'all' ? [] : messages.filter(({ MessageId }) => !failed.has(MessageId))
}
