import { describe, expect, it } from 'vitest'
import type { ReceivedMessage } from '../../../lib/local/deploy/queue-client.js'
import { succeededMessages } from '../../../lib/local/events/batch-response.js'

const messages: readonly ReceivedMessage[] = ['a', 'b', 'c'].map((id) => ({
  MessageId: id,
  ReceiptHandle: id,
  Body: '{}',
  MD5OfBody: '',
}))

const succeeded = (payload: unknown, partial = true, outcome: 'ok' | 'error' = 'ok') =>
  succeededMessages({ outcome, payload }, messages, partial)
    .map(({ MessageId }) => MessageId)
    .join('')

describe('with partial responses', () => {
  it.each([
    [null],
    [undefined],
    [{}],
    [''],
    [{ batchItemFailures: [] }],
    [{ batchItemFailures: null }],
    ['fine'],
    [[]],
  ])('the answer %j means that all succeeded', (payload) => expect(succeeded(payload)).toBe('abc'))

  it('the messages that are named failed, the others succeeded', () => {
    expect(succeeded({ batchItemFailures: [{ itemIdentifier: 'b' }] })).toBe('ac')
    expect(succeeded({ batchItemFailures: [{ itemIdentifier: 'a' }, { itemIdentifier: 'c' }] })).toBe('b')
  })

  it.each([
    [[{ itemIdentifier: '' }]],
    [[{ itemIdentifier: null }]],
    [[{ identifier: 'a' }]],
    [[{ itemIdentifier: 'unknown' }]],
    [[{ itemIdentifier: 'a' }, 'b']],
    ['a'],
  ])('the failures %j are not understood, so all failed', (batchItemFailures) =>
    expect(succeeded({ batchItemFailures })).toBe(''),
  )
})

it('a function that failed gets its whole batch back, whatever it answers', () => {
  expect(succeeded({ batchItemFailures: [] }, true, 'error')).toBe('')
  expect(succeeded(undefined, false, 'error')).toBe('')
})

it('without partial responses, failures in the answer mean nothing', () => {
  expect(succeeded({ batchItemFailures: [{ itemIdentifier: 'b' }] }, false)).toBe('abc')
})
