import type { Refusal } from './answer.js'
import { attributeFault, messageBytes, refuseBatch } from './message-rules.js'
import type { PublishEntry } from './publish-form.js'

/** The largest message, and the largest batch, attributes counted: the limit that topics have by default. */
const MOST_BYTES = 256 * 1024

/**
 * Why SNS refuses a Publish or a PublishBatch. A batch with one message that is malformed is refused whole.
 * @see https://docs.aws.amazon.com/sns/latest/api/API_PublishBatch.html
 */
export const refusePublish = (action: string, entries: readonly PublishEntry[]): Refusal | undefined => {
  const isBatch = action === 'PublishBatch'
  const refusal = isBatch ? refuseBatch(entries.map(({ id }) => id)) : undefined
  if (refusal !== undefined) return refusal
  for (const entry of entries) {
    const fault = attributeFault(entry)
    if (fault !== undefined) return { code: 'ParameterValueInvalid', message: fault }
    if (entry.body === '') return { code: 'InvalidParameter', message: 'Invalid parameter: Empty message' }
  }
  if (entries.reduce((sum, entry) => sum + messageBytes(entry), 0) <= MOST_BYTES) return undefined
  return isBatch
    ? { code: 'BatchRequestTooLong', message: 'The length of all the messages put together is more than the limit.' }
    : { code: 'InvalidParameter', message: 'Invalid parameter: Message too long' }
}
