import { PostdateError, reasonOf } from '../core/errors.js'
import type { Table } from './table.js'

/** What a persistence was about to do, as its errors word it. */
export type Operation =
  | 'store messages'
  | 'claim due messages'
  | 'settle messages'
  | 'release messages'
  | 'recall a message'
  | 'reschedule a message'
  | 'store a message under its key'
  | 'measure the backlog'
  | 'list dead messages'
  | 'list messages'
  | 'put a dead message back'
  | 'read its settings'
  | 'change its settings'

/**
 * Errors of credentials and permissions, and of requests that no retry can mend; all others pass by themselves.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
 */
const ACCESS =
  /^(AccessDenied|UnrecognizedClient|InvalidSignature|IncompleteSignature|MissingAuthentication|ExpiredToken|InvalidClientTokenId|NotAuthorized|OptInRequired)/
const CONFIGURATION = /^(ResourceNotFound|Validation|Serialization|UnknownOperation|TypeError)/
/** Raised by the SDK before it makes a request. */
const NO_CREDENTIALS = /^(CredentialsProvider|TokenProvider)/
const THROTTLE = /^(ProvisionedThroughputExceeded|Throttling|RequestLimitExceeded|TransactionConflict)/

const isBeforeAnyRequest = (name: string, message: string) =>
  NO_CREDENTIALS.test(name) || message.startsWith('Region is missing')

const codeOf = (name: string, message: string) => {
  if (isBeforeAnyRequest(name, message)) return 'persistence.no-credentials'
  if (ACCESS.test(name)) return 'persistence.access-denied'
  if (CONFIGURATION.test(name)) return 'persistence.misconfigured'
  return 'persistence.unavailable'
}

/** The typed error for a request that failed. A Postdate error passes unchanged. */
export const toStoreError = (table: Table, operation: Operation, error: unknown): PostdateError => {
  if (error instanceof PostdateError) return error
  const [name, message] = error instanceof Error ? [error.name, error.message] : ['', '']
  return new PostdateError(
    codeOf(name, message),
    { persistence: table.name, operation, reason: reasonOf(error) },
    error,
  )
}

/** The typed error for a statement of a batch that failed. */
export const toStatementError = (
  table: Table,
  operation: Operation,
  code: string,
  message: string | undefined,
): PostdateError =>
  new PostdateError(codeOf(code, ''), {
    persistence: table.name,
    operation,
    reason: message === undefined ? code : `${code}: ${message}`,
  })

const attemptsOf = (outcome: unknown): number => {
  const metadata =
    typeof outcome === 'object' && outcome !== null && '$metadata' in outcome ? outcome.$metadata : undefined
  return typeof metadata === 'object' && metadata !== null && 'attempts' in metadata ? Number(metadata.attempts) : 1
}

/** Whether the SDK sent a request more than once: an earlier attempt may have been applied though its answer was lost. */
export const wasRepeated = (outcome: unknown): boolean => attemptsOf(outcome) > 1

/** Whether a request that failed may have been applied all the same: its answer was lost, or the service broke off. */
export const mayHaveApplied = (error: unknown): boolean => {
  const [name, message] = error instanceof Error ? [error.name, error.message] : ['', '']
  if (isBeforeAnyRequest(name, message)) return wasRepeated(error)
  if (ACCESS.test(name) || CONFIGURATION.test(name) || THROTTLE.test(name)) return wasRepeated(error)
  return true
}

/** Whether a conditional request was refused by its condition. */
export const isRefused = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'ConditionalCheckFailedException' || error.name === 'DuplicateItemException')

/** What the code of a failed statement means: refused by its condition, passing (to be tried again), or final. */
export const judgeStatement = (code: string): 'refused' | 'passing' | 'final' => {
  if (code === 'ConditionalCheckFailed' || code === 'DuplicateItem') return 'refused'
  return THROTTLE.test(code) || code === 'InternalServerError' ? 'passing' : 'final'
}
