import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPostdateError } from '../../lib/core/errors.js'
import {
  checkSize,
  type OutgoingMiddleware,
  prepareEnvelope,
  REDELIVERY_RESERVE_BYTES,
} from '../../lib/core/prepare.js'
import { toWire, wireBytes } from '../../lib/core/wire.js'

const PLACE = { $name: 'orders/place', $version: 1, orderId: '42' }

const prepare = (order: Partial<Parameters<typeof prepareEnvelope>[0]> = {}) =>
  prepareEnvelope({
    kind: 'command',
    message: PLACE,
    options: {},
    dueAt: undefined,
    sentAt: 1_000,
    inherited: {},
    middleware: [],
    makeId: () => 'made',
    ...order,
  })

const refusalOf = async (order: Parameters<typeof prepare>[0]) => {
  try {
    return await prepare(order)
  } catch (error) {
    return isPostdateError(error) ? { code: error.code, details: error.details } : error
  }
}

class Reminder {
  static readonly $name = 'orders/remind'
  readonly $name = Reminder.$name
  readonly $version = 2
  readonly orderId = '42'
}

class OnPrototype {
  readonly orderId = '42'
  get $name() {
    return 'orders/remind'
  }
  get $version() {
    return 2
  }
}

describe('a prepared envelope', () => {
  test('holds the message as its JSON and nothing else, an id, and itself as conversation', async () => {
    expect(await prepare()).toEqual({
      messageId: 'made',
      kind: 'command',
      name: 'orders/place',
      body: JSON.stringify(PLACE),
      correlationId: 'made',
      attributes: {},
      stickyAttributes: {},
      headers: {},
      sentAt: 1_000,
    })
  })

  test.each([
    ['its fields', new Reminder()],
    ['its prototype', new OnPrototype()],
  ])('is made of a class that has name and version in %s', async (_where, message) => {
    const envelope = await prepare({ message })
    expect(envelope.name).toBe('orders/remind')
    expect(JSON.parse(envelope.body)).toEqual({ orderId: '42', $name: 'orders/remind', $version: 2 })
  })

  test('takes over conversation and sticky attributes, and what the sender says wins, falsy values too', async () => {
    const inherited = { correlationId: 'conversation', stickyAttributes: { tenant: 'a', trial: true, left: 1 } }
    const options = { stickyAttributes: { tenant: '', trial: false, zero: 0, none: null }, attributes: { zero: 0 } }
    expect(await prepare({ inherited, options })).toMatchObject({
      correlationId: 'conversation',
      attributes: { zero: 0 },
      stickyAttributes: { tenant: '', trial: false, zero: 0, none: null, left: 1 },
    })
    expect((await prepare({ inherited, options: { correlationId: 'own' } })).correlationId).toBe('own')
  })

  test('is not changed by what happens to the message and the options afterwards', async () => {
    const message = { ...PLACE, lines: ['a'] }
    const attributes: Record<string, string> = { a: '1' }
    const envelope = await prepare({ message, options: { attributes } })
    message.lines.push('b')
    attributes.a = '2'
    expect(JSON.parse(envelope.body).lines).toEqual(['a'])
    expect(envelope.attributes).toEqual({ a: '1' })
  })

  test('goes once through every middleware, in order, which may take its time', async () => {
    const seen: unknown[] = []
    const middleware: OutgoingMiddleware[] = [
      async (draft) => {
        await Promise.resolve()
        draft.headers.first = 'a'
        seen.push({ ...draft, headers: { ...draft.headers } })
      },
      (draft) => {
        draft.headers.second = `${draft.headers.first}b`
        draft.headers.empty = ''
      },
    ]
    const envelope = await prepare({
      middleware,
      dueAt: 5_000,
      options: { correlationId: 'c', attributes: { no: false } },
    })
    expect(envelope.headers).toEqual({ first: 'a', second: 'ab', empty: '' })
    expect(seen).toEqual([
      {
        kind: 'command',
        message: PLACE,
        attributes: { no: false },
        stickyAttributes: {},
        correlationId: 'c',
        dueAt: 5_000,
        headers: { first: 'a' },
      },
    ])
  })

  test('is refused when middleware throws, or writes what is no text', async () => {
    const throwing: OutgoingMiddleware = () => {
      throw new Error('no trace')
    }
    await expect(prepare({ middleware: [throwing] })).rejects.toThrow('no trace')
    const writing = (headers: Record<string, unknown>): OutgoingMiddleware => {
      return (draft) => void Object.assign(draft.headers, headers)
    }
    for (const headers of [{ a: 1 }, { a: undefined }, { '': 'a' }]) {
      expect(await refusalOf({ middleware: [writing(headers)] })).toMatchObject({
        code: 'message.invalid-attributes',
        details: { where: 'headers' },
      })
    }
  })

  test('asks for its id in the order of the calls, however long middleware takes', async () => {
    let delays = 3
    const slow: OutgoingMiddleware = async () => {
      for (let turn = delays--; turn > 0; turn--) await Promise.resolve()
    }
    let made = 0
    const makeId = () => `id-${++made}`
    const envelopes = await Promise.all([1, 2, 3].map(() => prepare({ middleware: [slow], makeId })))
    expect(envelopes.map(({ messageId }) => messageId)).toEqual(['id-1', 'id-2', 'id-3'])
  })

  test('makes its id from kind, name, body and attributes, and from no id of the sender', async () => {
    const contents: string[] = []
    const makeId = (content: string) => {
      contents.push(content)
      return 'made'
    }
    await prepare({ makeId })
    await prepare({ makeId, options: { attributes: { a: 1 } } })
    await prepare({ makeId, kind: 'event' })
    await prepare({ makeId, options: { messageId: 'own' } })
    await prepare({ makeId, options: { stickyAttributes: { a: 1 }, correlationId: 'c' } })
    expect(new Set(contents).size).toBe(3)
    expect(contents[3]).toBe(contents[0])
  })

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'message.invalid'],
    ['text', 'orders/place', 'message.invalid'],
    ['a list', Object.assign([], { $name: 'a', $version: 1 }), 'message.invalid'],
    ['no name', { $version: 1 }, 'message.invalid'],
    ['an empty name', { $name: '', $version: 1 }, 'message.invalid'],
    ['a name that looks like a route of a redelivery', { $name: '@billing', $version: 1 }, 'message.invalid'],
    ['no version', { $name: 'a' }, 'message.invalid'],
    ['version 0', { $name: 'a', $version: 0 }, 'message.invalid'],
    ['half a version', { $name: 'a', $version: 1.5 }, 'message.invalid'],
    ['a date inside', { ...PLACE, at: new Date(0) }, 'message.not-plain-json'],
  ])('is not made of %s', async (_what, message, code) => {
    expect(await refusalOf({ message })).toMatchObject({ code })
  })
})

describe('the size of an envelope', () => {
  test('may be the smallest limit less what a redelivery needs, and no byte more', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 3_000 }),
        fc.option(fc.nat(10 ** 13), { nil: undefined }),
        async (length, dueAt) => {
          const envelope = await prepare({ message: { ...PLACE, text: 'x'.repeat(length) } })
          const bytes = wireBytes(toWire(envelope, { attempt: 1, ...(dueAt !== undefined && { dueAt }) }))
          const limits = (maxBytes: number) => [
            { maxBytes: 10 ** 9, limit: 'the large one' },
            { maxBytes: maxBytes + REDELIVERY_RESERVE_BYTES, limit: 'the small one' },
          ]
          checkSize(envelope, dueAt, limits(bytes))
          expect(() => checkSize(envelope, dueAt, limits(bytes - 1))).toThrow(
            expect.objectContaining({
              code: 'message.too-large',
              details: expect.objectContaining({
                bytes,
                maxBytes: bytes - 1,
                limit: 'the small one',
                name: 'orders/place',
              }),
            }),
          )
        },
      ),
    )
  })

  test.each([
    ['body', {}, 'x'],
    ['attributes', { attributes: { a: 'x'.repeat(2_000) } }, ''],
    ['stickyAttributes', { stickyAttributes: { a: 'x'.repeat(2_000) } }, ''],
  ])('names its biggest part: %s', async (part, options, text) => {
    const envelope = await prepare({ options, message: { ...PLACE, text: text.repeat(2_000) } })
    expect(() => checkSize(envelope, undefined, [{ maxBytes: 2_000, limit: 'the topic' }])).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({ biggest: expect.stringMatching(`^${part} \\(\\d+ bytes\\)$`) }),
      }),
    )
  })

  test('is not checked against nothing', async () => {
    expect(checkSize(await prepare(), undefined, [])).toBeUndefined()
  })
})
