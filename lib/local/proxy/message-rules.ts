import type { MessageAttribute } from '../deploy/queue-client.js'
import type { Refusal } from './answer.js'

/** A message with its attributes, as SNS and SQS take it. */
export interface OutgoingMessage {
  readonly body: string
  readonly attributes: Readonly<Record<string, MessageAttribute>>
}

/** An entry of a batch. */
export interface BatchEntry extends OutgoingMessage {
  readonly id: string
}

/** The most entries of a batch, of SNS and of SQS. */
export const MOST_ENTRIES = 10

/** The most attributes that a message in a queue has; raw delivery discards a message with more. */
export const MOST_ATTRIBUTES = 10

/** The bytes that count against limits: the body, and of each attribute its name, type and value. */
export const messageBytes = ({ body, attributes }: OutgoingMessage): number =>
  Object.entries(attributes).reduce(
    (bytes, [name, { DataType: type, StringValue: text, BinaryValue: binary }]) =>
      bytes + Buffer.byteLength(name + type + (text ?? '')) + Buffer.from(binary ?? '', 'base64').length,
    Buffer.byteLength(body),
  )

/** Why a batch as such is refused; the codes are the same for SNS and SQS. */
export const refuseBatch = (ids: readonly string[]): Refusal | undefined => {
  if (ids.length === 0) return { code: 'EmptyBatchRequest', message: "The batch request doesn't contain any entries." }
  if (ids.length > MOST_ENTRIES)
    return {
      code: 'TooManyEntriesInBatchRequest',
      message: `The batch request contains more entries than permissible: ${ids.length}, and ${MOST_ENTRIES} are.`,
    }
  if (new Set(ids).size < ids.length)
    return {
      code: 'BatchEntryIdsNotDistinct',
      message: 'Two or more batch entries in the request have the same Id.',
    }
  if (ids.some((id) => !/^[\w-]{1,80}$/.test(id)))
    return {
      code: 'InvalidBatchEntryId',
      message: 'The Id of a batch entry has 1 to 80 letters, digits, hyphens and underscores.',
    }
  return undefined
}

/** Characters that XML 1.0 does not know; SNS and SQS refuse them. Lone surrogates never come this far. */
const invalidCharacters = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u

/** What is wrong with a message's attributes, or with its characters. */
export const attributeFault = ({ body, attributes }: OutgoingMessage): string | undefined => {
  for (const [name, { DataType: type, StringValue: text, BinaryValue: binary }] of Object.entries(attributes)) {
    if (!/^[\w.-]{1,256}$/.test(name) || /^(aws|amazon)\.|^\.|\.$|\.\./i.test(name))
      return `The message attribute name '${name}' is invalid.`
    if (!/^(String|Number|Binary)(\.|$)/.test(type))
      return `The message attribute '${name}' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.`
    if ((type.startsWith('Binary') ? binary : text) === undefined || (text ?? binary) === '')
      return `The message attribute '${name}' must contain non-empty message attribute value for message attribute type '${type}'.`
    if (text !== undefined && invalidCharacters.test(text))
      return `The message attribute '${name}' contains invalid characters.`
  }
  return invalidCharacters.test(body) ? 'Invalid characters found in the message.' : undefined
}
