import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  contentOf,
  decodeEnvelope,
  encodeEnvelope,
  sameContent,
  toJsonText,
  utf8Bytes,
} from '../../lib/core/envelope.js'
import { anyEnvelope, anyStoredEnvelope, anyText } from './arbitrary-envelope.js'

describe('an envelope', () => {
  test('comes back from its stored text whole, and its body byte for byte', () => {
    fc.assert(
      fc.property(anyStoredEnvelope, (envelope) => {
        const { messageId, kind, name, sentAt } = envelope
        expect(decodeEnvelope(encodeEnvelope(envelope), { messageId, kind, name, sentAt })).toEqual(envelope)
      }),
    )
  })

  test('with a text that is none is refused', () => {
    const identity = { messageId: 'a', kind: 'command', name: 'n', sentAt: 0 } as const
    expect(() => decodeEnvelope('{"a":1}', identity)).toThrow(SyntaxError)
    expect(() => decodeEnvelope('', identity)).toThrow(SyntaxError)
    expect(() => decodeEnvelope('not json\n{}', identity)).toThrow(SyntaxError)
  })

  test('is the same message only when kind, name, body and attributes are the same', () => {
    fc.assert(
      fc.property(anyEnvelope, anyText(), (envelope, text) => {
        const other = {
          ...envelope,
          messageId: text,
          headers: { text },
          stickyAttributes: {},
          correlationId: text,
          sentAt: 1,
        }
        expect(sameContent(envelope, other)).toBe(true)
        expect(sameContent(envelope, { ...envelope, body: `${envelope.body}${text}` })).toBe(text === '')
        expect(sameContent(envelope, { ...envelope, name: `${envelope.name}x` })).toBe(false)
        expect(sameContent(envelope, { ...envelope, attributes: { ...envelope.attributes, extra: text } })).toBe(
          envelope.attributes.extra === text,
        )
        expect(sameContent(envelope, { ...envelope, kind: envelope.kind === 'event' ? 'command' : 'event' })).toBe(
          false,
        )
      }),
    )
  })

  test('has a content from which its parts can be told apart', () => {
    const parts = { kind: 'command', name: 'a', body: 'b,c', attributes: {} } as const
    expect(contentOf(parts)).not.toBe(contentOf({ ...parts, name: 'a","b', body: 'c' }))
  })
})

describe('JSON text', () => {
  test('holds nothing that SNS and SQS refuse, and says the same as before', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const json = toJsonText({ [text]: [text] })
        expect([...json].filter((sign) => sign < ' ' || /[\ufffe\uffff\p{Surrogate}]/u.test(sign))).toEqual([])
        expect(JSON.parse(json)).toEqual({ [text]: [text] })
      }),
    )
  })
})

describe('the bytes of a text', () => {
  test('are those that UTF-8 makes of it', () => {
    fc.assert(
      fc.property(fc.oneof(anyText({ maxLength: 20 }), fc.string({ unit: 'grapheme' })), (text) => {
        expect(utf8Bytes(text)).toBe(Buffer.byteLength(text))
      }),
      { numRuns: 500 },
    )
  })
})
