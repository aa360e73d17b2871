import { toJsonText, utf8Bytes } from '../envelope.js'
import { textOf } from '../errors.js'

/** One failed run of a handler. */
export interface FailureNote {
  /** Epoch milliseconds. */
  readonly at: number
  readonly attempt: number
  /** The error's name, or the type of what was thrown. */
  readonly type: string
  readonly message: string
  /** Of the last failure alone; cut. */
  readonly stack?: string
}

/** What went wrong with a message at one receiver. It travels with the redelivered message, cut to what the limits leave. */
export interface FailureHistory {
  /** Failed runs until now; a requeue is none. */
  readonly count: number
  readonly first?: FailureNote
  readonly last?: FailureNote
}

/** The most of each text that is kept, in UTF-16 units (a stack: in bytes of its JSON). */
const LONGEST_TYPE = 100
const LONGEST_MESSAGE = 1_000
const LONGEST_STACK_BYTES = 4_096

const ELLIPSIS = '…'

/** The first so many units of a text, whole characters only; what was cut ends in an ellipsis. */
export const cutText = (text: string, most: number): string => {
  if (text.length <= most) return text
  if (most < 1) return ''
  const kept = text.slice(0, most - 1)
  // Half a pair would take six bytes in JSON.
  return (/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept) + ELLIPSIS
}

const jsonBytes = (value: unknown): number => utf8Bytes(toJsonText(value))

/** Cuts a text so that its JSON takes at most so many bytes. A character takes one byte or more, so each step is enough or nearly. */
const cutToBytes = (text: string, mostBytes: number): string => {
  let cut = cutText(text, mostBytes)
  for (let over = jsonBytes(cut) - mostBytes; over > 0 && cut !== ''; over = jsonBytes(cut) - mostBytes)
    // The ellipsis is a character of three bytes.
    cut = cutText(cut, cut.length - Math.max(1, Math.ceil(over / 6)))
  return cut
}

const noteFailure = (error: unknown, at: number, attempt: number): FailureNote => {
  const isError = error instanceof Error
  const stack = isError && typeof error.stack === 'string' ? cutToBytes(error.stack, LONGEST_STACK_BYTES) : undefined
  return {
    at,
    attempt,
    type: cutText(isError ? textOf(error.name) : typeof error, LONGEST_TYPE),
    message: cutText(isError ? textOf(error.message) : textOf(error), LONGEST_MESSAGE),
    ...(stack !== undefined && { stack }),
  }
}

/** Adds a failure to what went wrong before. */
export const recordFailure = (
  before: FailureHistory | undefined,
  error: unknown,
  at: number,
  attempt: number,
): FailureHistory => {
  const last = noteFailure(error, at, attempt)
  const { stack: _, ...first } = last
  return { count: (before?.count ?? 0) + 1, first: before?.first ?? first, last }
}

/** The last failure in one line. */
export const describeFailure = ({ last }: FailureHistory): string =>
  last === undefined ? 'the failure is not known' : cutText(`${last.type}: ${last.message}`, LONGEST_MESSAGE)

type NotePart = readonly ['first' | 'last', 'message' | 'stack']

const shrink = (history: FailureHistory, [which, part]: NotePart, mostBytes: number): FailureHistory => {
  const note = history[which]
  const over = jsonBytes(history) - mostBytes
  if (note === undefined || over <= 0) return history
  const { [part]: text = '', ...rest } = note
  const cut = cutToBytes(text, Math.max(2, jsonBytes(text) - over))
  const kept = part === 'stack' && cut === '' ? rest : { ...rest, [part]: cut }
  return { ...history, [which]: kept }
}

/**
 * Cuts a history so that its JSON takes at most so many bytes: first the stack, then the first failure, then the last
 * message; the count is kept. `undefined`: not even the count has room.
 */
export const fitFailure = (history: FailureHistory, mostBytes: number): FailureHistory | undefined => {
  const both = shrink(shrink(history, ['last', 'stack'], mostBytes), ['first', 'message'], mostBytes)
  const { count, last } = both
  const lastAlone = shrink({ count, ...(last !== undefined && { last }) }, ['last', 'message'], mostBytes)
  return [both, lastAlone, { count }].find((candidate) => jsonBytes(candidate) <= mostBytes)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const readNote = (value: unknown): FailureNote | undefined => {
  if (!isObject(value)) return undefined
  const { at, attempt, type, message, stack } = value
  if (typeof at !== 'number' || typeof attempt !== 'number') return undefined
  if (typeof type !== 'string' || typeof message !== 'string') return undefined
  return { at, attempt, type, message, ...(typeof stack === 'string' && { stack }) }
}

/** Reads a history that came over the wire or out of a store; what is malformed is left out. */
export const readFailure = (value: unknown): FailureHistory | undefined => {
  if (!isObject(value) || !Number.isSafeInteger(value.count) || Number(value.count) < 1) return undefined
  const first = readNote(value.first)
  const last = readNote(value.last)
  return {
    count: Number(value.count),
    ...(first !== undefined && { first }),
    ...(last !== undefined && { last }),
  }
}
