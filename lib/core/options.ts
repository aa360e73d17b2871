import { checkKnown } from './check-known.js'
import { describeValue, isPlainObject } from './describe-value.js'
import { PostdateError } from './errors.js'
import { KEY_OPTIONS, type KeyOptions } from './keys.js'
import type { MessageAttributes } from './message.js'
import { SCHEDULE_OPTIONS, type ScheduleOptions } from './schedule.js'

/** How a message is sent: attributes, an id of one's own, and when. */
export type SendOptions = Partial<MessageAttributes> & {
  /** An id of the sender's own, for sends that may be repeated. 1 to 128 letters, digits and `_ . : / @ + = -`. */
  readonly messageId?: string
} & ScheduleOptions &
  KeyOptions

/** The names of all send options. */
export const SEND_OPTIONS: readonly string[] = [
  ...['correlationId', 'attributes', 'stickyAttributes', 'messageId'],
  ...SCHEDULE_OPTIONS,
  ...KEY_OPTIONS,
]

const checkMap = (where: string, value: unknown): void => {
  const refuse = (name: string, rule: string) => new PostdateError('message.invalid-attributes', { where, name, rule })
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse('*', `it is ${describeValue(value)}, not an object`)
  // The entries of a Map, say, would be lost.
  if (!isPlainObject(value)) throw refuse('*', 'it is no plain object')
  for (const [name, item] of Object.entries(value)) {
    if (name === '') throw refuse('""', 'a name must not be empty')
    const plain = item === null || ['string', 'boolean'].includes(typeof item) || Number.isFinite(item)
    if (!plain) throw refuse(name, `it is ${describeValue(item)}`)
  }
}

const MESSAGE_ID = /^[\w.:/@+=-]{1,128}$/
/** What SNS and SQS refuse in an attribute. */
const isUnsendable = (character: string) =>
  character < ' ' || character === '\ufffe' || character === '\uffff' || /\p{Surrogate}/u.test(character)

/**
 * Whether a value is an object of options: one that someone wrote, or one of a class that has any of them. In a Date, a Map
 * or a list there is no option to be found, so a message would be sent at once that was meant for later.
 */
const hasOptions = (value: unknown): value is object =>
  isPlainObject(value) ||
  (typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    SEND_OPTIONS.some((name) => Reflect.has(value, name)))

/**
 * Checks what can be checked of send options before anything is built.
 * @throws PostdateError `options.invalid`, `options.unknown`, `message.invalid-id`, `message.invalid-attributes`
 */
export const checkSendOptions = (options: unknown): void => {
  if (!hasOptions(options)) {
    const rule = 'they must be an object such as { deliverAfter: 5000 } or { deliverAt: new Date(…) }'
    throw new PostdateError('options.invalid', { option: 'options', value: describeValue(options), rule })
  }
  checkKnown(options, SEND_OPTIONS)
  const { messageId, correlationId, attributes, stickyAttributes } = options as Record<string, unknown>
  if (messageId !== undefined && !(typeof messageId === 'string' && MESSAGE_ID.test(messageId))) {
    const rule = 'it is not 1 to 128 letters, digits and _ . : / @ + = -'
    throw new PostdateError('message.invalid-id', { messageId: describeValue(messageId), rule })
  }
  if (correlationId !== undefined) {
    const good = typeof correlationId === 'string' && correlationId !== '' && correlationId.length <= 256
    if (!good || [...correlationId].some(isUnsendable)) {
      const rule = 'it must be text of 1 to 256 characters without control characters and halves of pairs'
      throw new PostdateError('message.invalid-attributes', { where: 'options', name: 'correlationId', rule })
    }
  }
  if (attributes !== undefined) checkMap('attributes', attributes)
  if (stickyAttributes !== undefined) checkMap('stickyAttributes', stickyAttributes)
}
