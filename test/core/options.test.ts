import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPostdateError } from '../../lib/core/errors.js'
import { nearestWord } from '../../lib/core/nearest-word.js'
import { checkSendOptions } from '../../lib/core/options.js'

const refusalOf = (options: unknown) => {
  try {
    checkSendOptions(options)
    return 'taken'
  } catch (error) {
    return isPostdateError(error) ? { code: error.code, details: error.details } : error
  }
}

describe('the options of a send', () => {
  test('may hold falsy attributes, the other plain values, and what is undefined', () => {
    const attributes = { zero: 0, no: false, empty: '', none: null }
    expect(
      refusalOf({ attributes, stickyAttributes: attributes, correlationId: 'c', messageId: 'a.b:c/d@e+f=g-h_1' }),
    ).toBe('taken')
    expect(refusalOf({ attributes: undefined, messageId: undefined, correlationId: undefined })).toBe('taken')
  })

  test.each([
    ['deliverAfterr', 'deliverAfter'],
    ['deliverIn', 'deliverAt'],
    ['DELIVERAT', 'deliverAt'],
    ['corelationId', 'correlationId'],
    ['stickyAtributes', 'stickyAttributes'],
    ['messageid', 'messageId'],
  ])('name the one that was probably meant by %s: %s', (name, nearest) => {
    expect(refusalOf({ [name]: 5 })).toMatchObject({ code: 'options.unknown', details: { name, nearest } })
  })

  test('name none when no known one is near', () => {
    expect(refusalOf({ somethingElseEntirely: 5 })).toEqual({
      code: 'options.unknown',
      details: { name: 'somethingElseEntirely', known: expect.arrayContaining(['deliverAt', 'deliverAfter']) },
    })
  })

  test.each([
    ['null', null],
    ['text', 'deliverAfter'],
    ['a number', 5],
  ])('are an object, not %s', (_what, options) => {
    expect(refusalOf(options)).toMatchObject({ code: 'options.invalid' })
  })

  test.each([
    ['empty', ''],
    ['too long', 'x'.repeat(129)],
    ['with a blank', 'a b'],
    ['with # (a part of keys)', 'a#b'],
    ['with ~ (a part of redeliveries)', 'a~b'],
    ['with a line break at its end', 'a\n'],
    ['no text', 5],
  ])('refuse a messageId that is %s', (_what, messageId) => {
    expect(refusalOf({ messageId })).toMatchObject({ code: 'message.invalid-id' })
  })

  test.each([
    ['empty', ''],
    ['too long', 'x'.repeat(257)],
    ['with a control character', 'a\u0000'],
    ['with what SQS refuses', 'a\uffff'],
    ['with half a pair, which would arrive changed', 'a\ud800'],
    ['no text', 5],
  ])('refuse a correlationId that is %s', (_what, correlationId) => {
    expect(refusalOf({ correlationId })).toMatchObject({
      code: 'message.invalid-attributes',
      details: { name: 'correlationId' },
    })
  })

  test('take a correlationId with signs beyond 16 bits', () => {
    expect(refusalOf({ correlationId: 'Zürich 🚀' })).toBe('taken')
  })

  test.each([
    ['a list', ['a']],
    ['null', null],
    ['a map, whose entries would be lost', new Map([['a', 1]])],
    ['a date', new Date(0)],
    ['an empty name', { '': 1 }],
    ['an object as a value', { a: {} }],
    ['undefined as a value', { a: undefined }],
    ['NaN', { a: Number.NaN }],
    ['a bigint', { a: 1n }],
  ])('refuse attributes that are or hold %s', (_what, attributes) => {
    expect(refusalOf({ attributes })).toMatchObject({ code: 'message.invalid-attributes' })
    expect(refusalOf({ stickyAttributes: attributes })).toMatchObject({ code: 'message.invalid-attributes' })
  })
})

describe('the nearest word', () => {
  const words = ['deliverAt', 'deliverAfter', 'attributes']

  test('of a known word is itself, and of a word with one edit is that word', () => {
    fc.assert(
      fc.property(fc.constantFrom(...words), fc.nat(), fc.constantFrom('x', ''), (word, at, put) => {
        const place = at % word.length
        expect(nearestWord(word, words)).toBe(word)
        expect(nearestWord(`${word.slice(0, place)}${put}${word.slice(place + 1)}`, words)).toBe(word)
      }),
    )
  })

  test('is none among no words', () => {
    expect(nearestWord('deliverAt', [])).toBeUndefined()
  })
})
