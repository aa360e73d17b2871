import type { JsonObject } from '../assembly/template.js'
import type { MessageAttribute } from '../deploy/queue-client.js'
import type { Refusal } from './answer.js'
import { attributeFault, type BatchEntry, MOST_ATTRIBUTES, messageBytes, refuseBatch } from './message-rules.js'

/** The longest delay of a message. */
const LONGEST_DELAY_SECONDS = 900

/** The largest message, and the largest batch, attributes counted. */
const MOST_BYTES = 1024 * 1024

const entryOf = (entry: JsonObject, id: string): BatchEntry => ({
  id,
  body: String(entry.MessageBody ?? ''),
  attributes: (entry.MessageAttributes ?? {}) as Readonly<Record<string, MessageAttribute>>,
})

const invalid = (message: string): Refusal => ({ code: 'InvalidParameterValue', message })

const refuseMessage = (entry: JsonObject): Refusal | undefined => {
  const message = entryOf(entry, '')
  if (message.body === '')
    return { code: 'MissingParameter', message: 'The request must contain the parameter MessageBody.' }
  const { DelaySeconds: delay = 0 } = entry
  if (!Number.isInteger(delay) || Number(delay) < 0 || Number(delay) > LONGEST_DELAY_SECONDS)
    return invalid(
      `Value ${String(delay)} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= ${LONGEST_DELAY_SECONDS}.`,
    )
  const count = Object.keys(message.attributes).length
  if (count > MOST_ATTRIBUTES)
    return invalid(`Number of message attributes [${count}] exceeds the allowed maximum [${MOST_ATTRIBUTES}].`)
  const fault = attributeFault(message)
  return fault === undefined ? undefined : invalid(fault)
}

const refuseSend = (entries: readonly JsonObject[]): Refusal | undefined => {
  const bytes = entries.reduce((sum, entry) => sum + messageBytes(entryOf(entry, '')), 0)
  if (bytes > MOST_BYTES)
    return entries.length > 1
      ? { code: 'BatchRequestTooLong', message: `Batch requests cannot be longer than ${MOST_BYTES} bytes.` }
      : invalid(`One or more parameters are invalid. Reason: Message must be shorter than ${MOST_BYTES} bytes.`)
  return undefined
}

/** An entry that SQS would not take, as it stands in the answer of a batch. */
export interface FailedEntry {
  readonly Id: string
  readonly SenderFault: true
  readonly Code: string
  readonly Message: string
}

/** What SQS makes of a request, before it does anything: refused whole, or some of its entries. */
export interface QueueVerdict {
  readonly refusal?: Refusal
  readonly failed?: readonly FailedEntry[]
}

/**
 * Judges a call of SQS by AWS's rules.
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html
 */
export const judgeQueueCall = (operation: string, body: JsonObject): QueueVerdict => {
  const entries = (body.Entries ?? []) as readonly JsonObject[]
  const ids = entries.map(({ Id: id }) => String(id ?? ''))
  const refusal = operation.endsWith('Batch')
    ? (refuseBatch(ids) ?? (operation === 'SendMessageBatch' ? refuseSend(entries) : undefined))
    : operation === 'SendMessage'
      ? (refuseMessage(body) ?? refuseSend([body]))
      : undefined
  if (refusal !== undefined) return { refusal }
  if (operation !== 'SendMessageBatch') return {}
  return {
    failed: entries.flatMap((entry, place) => {
      const wrong = refuseMessage(entry)
      return wrong === undefined
        ? []
        : [{ Id: ids[place] ?? '', SenderFault: true as const, Code: wrong.code, Message: wrong.message }]
    }),
  }
}
