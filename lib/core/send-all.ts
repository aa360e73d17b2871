import { describeValue } from './describe-value.js'
import { PostdateError } from './errors.js'
import type { Message } from './message.js'
import { SEND_OPTIONS, type SendOptions } from './options.js'
import { type Outbox, type PreparedMessage, type Receipt, receiptOf } from './outbox.js'

/** One message of many, with options of its own. */
export type SendEntry = { readonly message: Message } & SendOptions

/** A message of many that was not sent, or that is in doubt: then `error.details.receipt` tells what to ask for. */
export interface FailedSend {
  readonly status: 'failed'
  /** A `PostdateError`, or what outgoing middleware threw. */
  readonly error: Error
}

/** What became of one message of many. */
export type SendOutcome = Receipt | FailedSend

/** Checks and builds one message; as `Outbox.prepare`. */
export type PrepareOne = (message: Message, options: object) => Promise<PreparedMessage>

const failed = (thrown: unknown): FailedSend => ({
  status: 'failed',
  error: thrown instanceof Error ? thrown : new Error(String(thrown)),
})

const invalid = (option: string, value: unknown, rule: string) =>
  new PostdateError('options.invalid', { option, value: describeValue(value), rule })

const prepareEntry = async (entry: unknown, index: number, prepareOne: PrepareOne) => {
  try {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry) || !('message' in entry))
      throw invalid(`messages[${index}]`, entry, 'it must be { message, ...options }')
    const { message, ...options } = entry
    // Those of a class may be on its prototype: left there, a delay would be lost, and the message sent at once.
    const inherited = SEND_OPTIONS.filter((name) => name in entry && !(name in options))
    for (const name of inherited) Object.assign(options, { [name]: Reflect.get(entry, name) })
    return await prepareOne(message as Message, options)
  } catch (error) {
    return failed(error)
  }
}

const isReady = (one: PreparedMessage | FailedSend): one is PreparedMessage => 'envelope' in one

/**
 * Checks and builds many messages, each on its own. All are begun within this call, so that ids made from their order are the
 * same in every run.
 * @throws PostdateError `options.invalid` when it is no list
 */
export const prepareAll = async (
  entries: readonly SendEntry[],
  prepareOne: PrepareOne,
): Promise<readonly (PreparedMessage | FailedSend)[]> => {
  if (!Array.isArray(entries)) throw invalid('messages', entries, 'it must be a list')
  return Promise.all(Array.from(entries, (entry: unknown, index) => prepareEntry(entry, index, prepareOne)))
}

/** Buffers those that are ready: `keep` gets each, in order. One outcome per message, in order. */
export const bufferAll = (
  all: readonly (PreparedMessage | FailedSend)[],
  keep: (prepared: PreparedMessage) => void,
): readonly SendOutcome[] =>
  all.map((one) => {
    if (!isReady(one)) return one
    keep(one)
    return receiptOf(one, 'buffered')
  })

/** Stores and publishes those that are ready, in as few requests as the limits allow. One outcome per message, in order. */
export const deliverAll = async (
  all: readonly (PreparedMessage | FailedSend)[],
  outbox: Pick<Outbox, 'deliver'>,
): Promise<readonly SendOutcome[]> => {
  const ready = all.filter(isReady)
  const results = await outbox.deliver(ready, 'own', 'apart')
  const outcomes = new Map(
    ready.map((prepared, index): [PreparedMessage, SendOutcome] => {
      const result = results[index]
      if (result?.ok === false) return [prepared, failed(result.error)]
      return [prepared, result?.receipt ?? receiptOf(prepared, 'done')]
    }),
  )
  return all.map((one) => (isReady(one) ? (outcomes.get(one) ?? failed('it has no result')) : one))
}
