import { describe, expect, test } from 'vitest'
import { errorCatalog } from '../../lib/core/error-catalog.js'
import { DelayedDeliveryNotSupported, isPostdateError, PostdateError, reasonOf } from '../../lib/core/errors.js'

describe('an error', () => {
  test('tells its code, the values of the attempt, what to do, and whether to try again', () => {
    const details = { name: 'orders/place', bytes: 300_000, maxBytes: 261_120, limit: 'the topic', biggest: 'body' }
    const error = new PostdateError('message.too-large', details)
    expect(error).toBeInstanceOf(Error)
    expect(error.name).toBe('PostdateError')
    expect(error.code).toBe('message.too-large')
    expect(error.details).toEqual(details)
    expect(error.help).toContain('S3')
    expect(error.retryable).toBe(false)
    expect(error.message).toBe(
      'orders/place is 300000 bytes on the wire, 38880 over the 261120 of the topic; its biggest part is body. ' +
        `${error.help} (message.too-large)`,
    )
    expect(error.cause).toBeUndefined()
  })

  test('keeps its cause, and says when the same call may succeed later', () => {
    const cause = new Error('ECONNRESET')
    const details = { persistence: 'memory', operation: 'store 1 message', reason: reasonOf(cause) }
    const error = new PostdateError('persistence.unavailable', details, cause)
    expect(error.cause).toBe(cause)
    expect(error.retryable).toBe(true)
    expect(error.message).toContain('memory could not store 1 message: ECONNRESET')
  })

  test('of a persistence that can not delay has a class of its own, names it, and has the fix', () => {
    const error = new DelayedDeliveryNotSupported({
      persistence: 'files',
      name: 'a/b',
      missing: ['storeOutgoingMessages'],
    })
    expect(error).toBeInstanceOf(PostdateError)
    expect(error.name).toBe('DelayedDeliveryNotSupported')
    expect(error.message).toContain('a/b')
    expect(error.message).toContain('files')
    expect(error.message).toContain('storeOutgoingMessages')
    expect(error.help).toContain('dynamoDbPersistence({ tableName })')
  })

  test('is told from others, by code if one is asked for', () => {
    const error: unknown = new PostdateError('bus.stopped', { bus: 'orders', attempted: 'a send' })
    expect(isPostdateError(error)).toBe(true)
    expect(isPostdateError(error, 'bus.stopped')).toBe(true)
    expect(isPostdateError(error, 'bus.started-twice')).toBe(false)
    expect(isPostdateError(new Error('other'))).toBe(false)
    expect(isPostdateError(undefined)).toBe(false)
  })

  test('with an instant that no Date can hold still says what is wrong', () => {
    const details = { dueAt: 9e15, limitAt: 8.7e15, horizonMs: 1 }
    expect(new PostdateError('schedule.beyond-horizon', details).message).toContain('due at 9000000000000000 ms')
  })
})

describe('the catalog', () => {
  test('has a dotted code and a help of whole sentences for every error', () => {
    for (const [code, entry] of Object.entries(errorCatalog)) {
      expect(code).toMatch(/^[a-z]+\.[a-z]+(-[a-z]+)*$/)
      expect(entry.help).toMatch(/^\S.*[.+=-]$/)
    }
  })
})

describe('the reason of what was thrown', () => {
  test.each([
    [new Error('broken'), 'broken'],
    [new TypeError('broken'), 'TypeError: broken'],
    ['text', 'text'],
    [undefined, 'undefined'],
  ])('of %s is its text', (thrown, reason) => {
    expect(reasonOf(thrown)).toBe(reason)
  })
})
