import { describe, expect, it } from 'vitest'
import { failureOfEntry, failureOfRequest } from '../../lib/sns/failures.js'

const refusal = (name: string, httpStatusCode: number, message = 'said SNS') =>
  Object.assign(new Error(message), { name, $metadata: { httpStatusCode } })

const network = (code: string, syscall: string) => Object.assign(new Error(`${syscall} ${code}`), { code, syscall })

describe('a request that is refused', () => {
  it.each([
    ['AuthorizationErrorException', 403],
    ['AccessDeniedException', 403],
    ['ExpiredTokenException', 403],
    ['InvalidClientTokenId', 403],
    ['SignatureDoesNotMatch', 403],
    ['InvalidSecurityException', 403],
    ['NotFoundException', 404],
    ['KMSDisabledException', 400],
    ['KMSAccessDeniedException', 400],
    ['KMSInvalidStateException', 400],
    ['KMSNotFoundException', 400],
    ['KMSOptInRequired', 403],
    ['KMSThrottlingException', 400],
    ['ThrottledException', 429],
    ['ThrottlingException', 400],
    ['Throttling', 400],
    ['EndpointDisabledException', 400],
    ['PlatformApplicationDisabledException', 400],
    ['SomethingNew', 400],
  ])('with %s (%i) blames the topic and was surely not published', (name, status) => {
    for (const batchSize of [1, 10])
      expect(failureOfRequest(refusal(name, status), batchSize)).toMatchObject({ blames: 'topic', published: 'no' })
  })

  it.each([
    ['InvalidParameterException', 400],
    ['InvalidParameterValueException', 400],
    ['ValidationException', 400],
    ['ValidationError', 400],
    ['BatchRequestTooLongException', 400],
    ['TooManyEntriesInBatchRequestException', 400],
    ['BatchEntryIdsNotDistinctException', 400],
    ['InvalidBatchEntryIdException', 400],
    ['EmptyBatchRequestException', 400],
    ['Unknown', 413],
  ])('with %s (%i) blames the request, or its message when that was alone', (name, status) => {
    expect(failureOfRequest(refusal(name, status), 10)).toMatchObject({ blames: 'request', published: 'no' })
    expect(failureOfRequest(refusal(name, status), 1)).toMatchObject({ blames: 'message', published: 'no' })
  })

  it.each([
    'Invalid parameter: TopicArn',
    'Invalid parameter: TopicArn Reason: no value for required parameter',
    'Invalid parameter: The MessageGroupId parameter is required for FIFO topics',
    'Invalid parameter: The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly',
  ])('because of the topic (%s) kills no message', (message) => {
    expect(failureOfRequest(refusal('InvalidParameterException', 400, message), 1)).toMatchObject({ blames: 'topic' })
    expect(failureOfEntry({ Id: '0', Code: 'InvalidParameter', SenderFault: true, Message: message })).toMatchObject({
      blames: 'topic',
    })
  })
})

describe('a request without a clear answer', () => {
  it.each([
    ['a 500', refusal('InternalErrorException', 500)],
    ['a 503', refusal('ServiceUnavailable', 503)],
    ['a 408', refusal('RequestTimeout', 408)],
    ['an answer that can not be read', refusal('SyntaxError', 200)],
    ['a time-out', Object.assign(new Error('late'), { name: 'TimeoutError', code: 'ETIMEDOUT' })],
    ['a broken connection', network('ECONNRESET', 'read')],
    ['a connection closed while writing', network('EPIPE', 'write')],
    ['an answer cut short', new Error('aborted')],
    ['something that is no error', 'what?'],
    ['nothing', undefined],
  ])('as %s blames the topic and was perhaps published', (_what, error) => {
    for (const batchSize of [1, 10])
      expect(failureOfRequest(error, batchSize)).toMatchObject({ blames: 'topic', published: 'perhaps' })
  })

  it.each([
    ['a refused connection', network('ECONNREFUSED', 'connect')],
    ['a connection that timed out', network('ETIMEDOUT', 'connect')],
    ['an unknown host', network('ENOTFOUND', 'getaddrinfo')],
    [
      'all addresses of a host refused',
      new AggregateError([network('ECONNREFUSED', 'connect'), network('ENETUNREACH', 'connect')]),
    ],
    ['no credentials', Object.assign(new Error('none'), { name: 'CredentialsProviderError' })],
    ['no region', new Error('Region is missing')],
  ])('as %s was surely not published', (_what, error) => {
    expect(failureOfRequest(error, 10)).toMatchObject({ blames: 'topic', published: 'no' })
  })

  it('without credentials or a region says how to give them', () => {
    const noCredentials = Object.assign(new Error('Could not load any'), { name: 'CredentialsProviderError' })
    expect(failureOfRequest(noCredentials, 1).reason).toMatch(/Could not load any \(no AWS credentials .*AWS_PROFILE/)
    expect(failureOfRequest(new Error('Region is missing'), 1).reason).toContain('set AWS_REGION')
    expect(failureOfRequest(new Error('x'), 1).reason).not.toContain('AWS_')
  })

  it('gives a reason of bounded length', () => {
    expect(failureOfRequest(new Error('x'.repeat(10_000)), 1).reason.length).toBeLessThanOrEqual(500)
    expect(failureOfRequest({}, 1).reason).not.toBe('')
  })
})

describe('an entry that failed', () => {
  it('by its sender is the fault of the message', () => {
    const entry = { Id: '3', Code: 'InvalidParameter', SenderFault: true, Message: 'Message too long' }
    expect(failureOfEntry(entry)).toEqual({
      outcome: 'failed',
      blames: 'message',
      published: 'no',
      reason: 'InvalidParameter: Message too long',
    })
  })

  it('within SNS is passing, and perhaps published', () => {
    expect(failureOfEntry({ Id: '3', Code: 'InternalError', SenderFault: false })).toMatchObject({
      blames: 'passing',
      published: 'perhaps',
    })
  })

  it.each(['Throttled', 'ThrottlingException', 'KMSDisabled', 'KMSAccessDenied', 'AuthorizationError', 'NotFound'])(
    'with %s blames the topic, also when it is said to be the sender',
    (Code) => {
      for (const SenderFault of [true, false])
        expect(failureOfEntry({ Id: '0', Code, SenderFault })).toMatchObject({ blames: 'topic', published: 'no' })
    },
  )
})
