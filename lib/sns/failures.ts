import type { BatchResultErrorEntry } from '@aws-sdk/client-sns'
import type { PublishOutcome } from '../core/transport.js'

/** A publish that failed: whom it blames, whether it may have gone out, and why. */
export type PublishFailure = Extract<PublishOutcome, { readonly outcome: 'failed' }>

/**
 * Codes of a request that SNS refuses as it stands. Another selection of the same messages may pass.
 * @see https://docs.aws.amazon.com/sns/latest/api/API_PublishBatch.html
 * @see https://docs.aws.amazon.com/sns/latest/api/CommonErrors.html
 */
const REQUEST_CODES: ReadonlySet<string> = new Set([
  'BatchEntryIdsNotDistinct',
  'BatchRequestTooLong',
  'EmptyBatchRequest',
  'InvalidBatchEntryId',
  'InvalidParameter',
  'InvalidParameterCombination',
  'InvalidParameterValue',
  'MissingParameter',
  'RequestEntityTooLarge',
  'TooManyEntriesInBatchRequest',
  'Validation',
  'ValidationError',
])

/**
 * Codes that mean the same for every message, also where they are reported for one entry: throttled, not permitted, or a
 * topic or key that is missing or disabled. All of SNS's codes about keys begin with `KMS`.
 */
const TOPIC_CODES: ReadonlySet<string> = new Set([
  'AccessDenied',
  'AuthorizationError',
  'EndpointDisabled',
  'ExpiredToken',
  'InvalidClientTokenId',
  'InvalidSecurity',
  'NotAuthorized',
  'NotFound',
  'OptInRequired',
  'PlatformApplicationDisabled',
  'RequestLimitExceeded',
  'ResourceNotFound',
  'ServiceUnavailable',
  'Throttled',
  'Throttling',
  'TooManyRequests',
])

/**
 * SNS says `InvalidParameter` of messages and of the topic alike. A wrong ARN, or a FIFO topic (it asks for a group), is
 * the topic's fault: no message may die of it.
 */
const NAMES_THE_TOPIC =
  /^(Invalid parameter: )?(The )?(topic|TopicArn|TargetArn|MessageGroupId|MessageDeduplicationId)\b/

/** A throttle is told by `429` or by its code, which SNS writes in several ways. */
const blamesTopic = (code: string, message: string): boolean =>
  TOPIC_CODES.has(code) || code.startsWith('KMS') || NAMES_THE_TOPIC.test(message)

/** SNS writes a code as `Throttled` on the wire and the SDK as `ThrottledException`. */
const bareCode = (code: string): string => code.replace(/^.*[.#]/, '').replace(/Exception$/, '')

const LONGEST_REASON = 500

const fail = (
  blames: PublishFailure['blames'],
  published: PublishFailure['published'],
  reason: string,
): PublishFailure => ({ outcome: 'failed', blames, published, reason: reason.slice(0, LONGEST_REASON) })

/** What the SDK and Node put on errors; all of it may be missing. */
interface SeenError {
  readonly name?: string
  readonly message?: string
  readonly code?: string
  readonly syscall?: string
  readonly errors?: readonly unknown[]
  readonly $metadata?: { readonly httpStatusCode?: number }
}

/** How the SDK's error without a name of its own begins. */
const NO_REGION = 'Region is missing'

/** Raised by the SDK before it makes a request. */
const BEFORE_ANY_REQUEST: ReadonlySet<string> = new Set(['CredentialsProviderError', 'TokenProviderError'])

/** What to do about an error that the SDK raises since nobody has told it who asks, or where; the SDK itself does not say. */
const hintFor = ({ name = '', message = '' }: SeenError): string => {
  if (BEFORE_ANY_REQUEST.has(name))
    return ' (no AWS credentials were found: set AWS_PROFILE after aws sso login, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or pass an SNS client that has credentials)'
  if (message.startsWith(NO_REGION)) return ' (set AWS_REGION, or pass an SNS client that has a region)'
  return ''
}

/** Whether no byte of the request can have left: no address, no connection, or no credentials to sign it with. */
const wasNeverSent = (error: SeenError): boolean =>
  // Node tries several addresses of one name, and then raises one AggregateError.
  error.errors !== undefined && error.errors.length > 0
    ? error.errors.every((one) => wasNeverSent(one as SeenError))
    : error.syscall === 'connect' ||
      error.syscall === 'getaddrinfo' ||
      error.message?.startsWith(NO_REGION) === true ||
      (error.name !== undefined && BEFORE_ANY_REQUEST.has(error.name))

const describe = (code: string | undefined, message: string | undefined): string =>
  [code, message].filter((part) => part !== undefined && part !== '').join(': ') || 'an error without a text'

/**
 * What the error of a whole request means for each of its messages.
 *
 * An answer of 4xx says that nothing was published. Anything else may hide a publish: 5xx, a time-out, a broken
 * connection, an answer that can't be read. Codes that are not known blame the topic, where nothing dies of it.
 * @param batchSize how many messages the request held: what is refused alone is refused for itself.
 */
export const failureOfRequest = (thrown: unknown, batchSize: number): PublishFailure => {
  const error: SeenError = typeof thrown === 'object' && thrown !== null ? thrown : { message: String(thrown) }
  const status = error.$metadata?.httpStatusCode
  const isRefusal = status !== undefined && status >= 400 && status < 500 && status !== 408
  const reason = describe(isRefusal ? error.name : (error.code ?? error.name), error.message) + hintFor(error)
  if (!isRefusal) return fail('topic', status === undefined && wasNeverSent(error) ? 'no' : 'perhaps', reason)
  const code = bareCode(error.name ?? '')
  const isInvalid = (REQUEST_CODES.has(code) || status === 413) && !blamesTopic(code, error.message ?? '')
  if (!isInvalid) return fail('topic', 'no', reason)
  return fail(batchSize === 1 ? 'message' : 'request', 'no', reason)
}

/**
 * What a failed entry of an answer means for its message. An entry that fails without its sender's fault failed within
 * SNS, which does not say how far it got.
 * @see https://docs.aws.amazon.com/sns/latest/api/API_BatchResultErrorEntry.html
 */
export const failureOfEntry = (entry: BatchResultErrorEntry): PublishFailure => {
  const code = bareCode(entry.Code ?? '')
  const reason = describe(entry.Code, entry.Message)
  if (blamesTopic(code, entry.Message ?? ''))
    return fail('topic', code === 'ServiceUnavailable' ? 'perhaps' : 'no', reason)
  return entry.SenderFault === true ? fail('message', 'no', reason) : fail('passing', 'perhaps', reason)
}

/** A message whose entry the answer names neither as published nor as failed. */
export const unansweredEntry: PublishFailure = fail(
  'passing',
  'perhaps',
  'the answer names the message neither as published nor as failed',
)

/** A message that can't be written for the wire. */
export const unwritableEntry = (reason: string): PublishFailure => fail('message', 'no', reason)
