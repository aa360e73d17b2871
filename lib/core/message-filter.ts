import { describeValue } from './describe-value.js'
import { isPostdateError, PostdateError } from './errors.js'
import type { DueWindow, ListedRow } from './inspection.js'
import { LATEST_INSTANT } from './lease.js'
import { type Instant, readInstant } from './schedule/instant.js'

/** Which messages are meant: all that is given has to hold. */
export interface MessageFilter {
  /** Due at this instant or after it. @default the beginning of time, so that what is overdue is found */
  readonly dueAfter?: Instant
  /** Due before this instant. @default for ever */
  readonly dueBefore?: Instant
  /** The message's `$name`. */
  readonly name?: string
  readonly key?: string
  /** What the key begins with. */
  readonly keyPrefix?: string
  readonly correlationId?: string
}

const TEXTS = ['name', 'key', 'keyPrefix', 'correlationId'] as const

/** The names of all parts of a filter. */
export const FILTER_PARTS: readonly string[] = ['dueAfter', 'dueBefore', ...TEXTS]

const refuse = (option: string, value: unknown, rule: string) =>
  new PostdateError('options.invalid', { option, value: describeValue(value), rule })

const readBound = (option: 'dueAfter' | 'dueBefore', filter: MessageFilter, unset: number): number => {
  if (!(option in filter)) return unset
  try {
    return readInstant(filter[option])
  } catch (error) {
    if (!isPostdateError(error, 'schedule.invalid-instant')) throw error
    throw refuse(option, filter[option], error.details.rule)
  }
}

/**
 * The instants that a filter is about.
 * @throws PostdateError `options.invalid`
 */
export const windowOf = (filter: MessageFilter): DueWindow => ({
  dueFrom: Math.max(0, readBound('dueAfter', filter, 0)),
  dueBefore: Math.min(LATEST_INSTANT, readBound('dueBefore', filter, LATEST_INSTANT)),
})

/**
 * What a filter accepts of the rows in its window.
 * @throws PostdateError `options.invalid`
 */
export const acceptorOf = (filter: MessageFilter): ((row: ListedRow) => boolean) => {
  // A part that is there but has no value would match everything.
  for (const part of TEXTS)
    if (part in filter && (typeof filter[part] !== 'string' || filter[part] === ''))
      throw refuse(part, filter[part], 'it must be text, not empty')
  const { name, key, keyPrefix, correlationId } = filter
  return (row) =>
    (name === undefined || row.name === name) &&
    (key === undefined || row.key === key) &&
    (keyPrefix === undefined || row.key?.startsWith(keyPrefix) === true) &&
    (correlationId === undefined || row.correlationId === correlationId)
}

/** Whether a filter says more than when. */
export const isSelective = (filter: MessageFilter): boolean => TEXTS.some((part) => part in filter)
