import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPostdateError } from '../../lib/core/errors.js'
import { formatHandle, type HandleContent, parseHandle } from '../../lib/core/handle.js'
import { hashText } from '../../lib/core/ids.js'
import { anyText } from './arbitrary-envelope.js'

const anyContent: fc.Arbitrary<HandleContent> = fc.record({
  bus: fc.stringMatching(/^[\w-]{1,64}$/),
  shard: fc.nat(1_000),
  dueAt: fc.integer({ min: 0, max: 10 ** 15 - 1 }),
  rowId: fc.stringMatching(/^[\w.:/@+=~-]{1,140}$/),
})

const SIGNS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= \n\t.#é']

const refusalOf = (handle: unknown): string => {
  try {
    return `parsed to ${JSON.stringify(parseHandle(handle))}`
  } catch (error) {
    return isPostdateError(error) ? error.code : `no Postdate error: ${error}`
  }
}

describe('a recall handle', () => {
  test('brings back what it was made of, and is plain in URLs and file names', () => {
    fc.assert(
      fc.property(anyContent, (content) => {
        const handle = formatHandle(content)
        expect(parseHandle(handle)).toEqual(content)
        expect(handle).toMatch(/^pd1_[\w-]+$/)
      }),
    )
  })

  test('is refused after every edit of one character', () => {
    const handle = formatHandle({ bus: 'orders', shard: 3, dueAt: 1_900_000_000_000, rowId: 'a1b2' })
    const edits = new Set<string>()
    for (let at = 0; at <= handle.length; at++) {
      edits.add(handle.slice(0, at) + handle.slice(at + 1))
      for (const sign of SIGNS) {
        edits.add(handle.slice(0, at) + sign + handle.slice(at))
        edits.add(handle.slice(0, at) + sign + handle.slice(at + 1))
      }
    }
    edits.delete(handle)
    const taken = [...edits].filter((edit) => refusalOf(edit) !== 'recall.malformed-handle')
    expect(taken).toEqual([])
    expect(edits.size).toBeGreaterThan(8_000)
  })

  test('is refused when its last digit is respelt, whatever it holds', () => {
    fc.assert(
      fc.property(anyContent, fc.constantFrom(...SIGNS), (content, sign) => {
        const handle = formatHandle(content)
        const respelt = handle.slice(0, -1) + sign
        fc.pre(respelt !== handle)
        expect(refusalOf(respelt)).toBe('recall.malformed-handle')
      }),
    )
  })

  test.each([
    ['null', 'null'],
    ['no list', '{"bus":"b"}'],
    ['no JSON', 'b'],
    ['a shard that is a text', '["b","x",5,"id"]'],
    ['a negative instant', '["b",0,-5,"id"]'],
    ['an instant that is no whole number', '["b",0,1.5,"id"]'],
    ['no id', '["b",0,5,""]'],
    ['an id that is no text', '["b",0,5,{}]'],
  ])('is refused when it holds %s, though its checksum is right', (_, content) => {
    expect(refusalOf(`pd1_${btoa(hashText(content).slice(0, 8) + content).replaceAll('=', '')}`)).toBe(
      'recall.malformed-handle',
    )
  })

  test('is refused when it is any other text or value', () => {
    fc.assert(
      fc.property(fc.oneof(anyText(), fc.anything()), (value) => {
        expect(refusalOf(value)).toBe('recall.malformed-handle')
        if (typeof value === 'string') expect(refusalOf(`pd1_${value}`)).toBe('recall.malformed-handle')
      }),
    )
  })
})
