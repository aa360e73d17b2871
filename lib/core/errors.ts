import { errorCatalog } from './error-catalog.js'

type Catalog = typeof errorCatalog

/** The stable name of an error, dotted. */
export type ErrorCode = keyof Catalog

/** What an error with this code says of the attempt. */
export type ErrorDetails<C extends ErrorCode> = Parameters<Catalog[C]['message']>[0]

/** What any Postdate error may carry besides its own details. */
export interface ErrorContext {
  /** The receipt of a send that failed unsure: ask or send again with it. */
  readonly receipt?: { readonly messageId: string; readonly dueAt?: number; readonly recallHandle?: string }
}

/** The package may be loaded twice, as ESM and as CommonJS: its errors know each other by this, not by their class. */
const BRAND = Symbol.for('postdate.error')

/**
 * Every error that Postdate raises. `code` is stable, `details` tells the values of the attempt, `help` what to do, and
 * `retryable` whether the same call may succeed later.
 */
export class PostdateError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name: string = 'PostdateError'
  readonly code: C
  readonly details: ErrorDetails<C> & ErrorContext
  readonly help: string
  readonly retryable: boolean
  readonly [BRAND] = true

  constructor(code: C, details: ErrorDetails<C> & ErrorContext, cause?: unknown) {
    const entry = errorCatalog[code]
    const describe = entry.message as (details: ErrorDetails<C>) => string
    super(`${describe(details)}. ${entry.help} (${code})`, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
    this.help = entry.help
    this.retryable = 'retryable' in entry
  }
}

/** Raised by a delayed send on a persistence that keeps no outgoing messages. Names the persistence; `help` has the fix. */
export class DelayedDeliveryNotSupported extends PostdateError<'persistence.delayed-delivery-not-supported'> {
  override readonly name = 'DelayedDeliveryNotSupported'

  constructor(details: ErrorDetails<'persistence.delayed-delivery-not-supported'>) {
    super('persistence.delayed-delivery-not-supported', details)
  }
}

/**
 * Whether a caught value is a Postdate error, of this code if one is given.
 * @example
 * try { await bus.send(command) } catch (error) { if (isPostdateError(error, 'message.too-large')) console.log(error.details.bytes) }
 */
export const isPostdateError = <C extends ErrorCode>(error: unknown, code?: C): error is PostdateError<C> =>
  typeof error === 'object' &&
  error !== null &&
  BRAND in error &&
  (code === undefined || (error as PostdateError).code === code)

/** A value as text, also one that has none. */
export const textOf = (value: unknown): string => {
  try {
    return String(value)
  } catch {
    // An object without a prototype, say: whoever asks wants to tell of a failure, not to have another.
    return 'something that has no text'
  }
}

/** The text of whatever was thrown. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name === 'Error' ? '' : `${error.name}: `}${error.message}` : textOf(error)
