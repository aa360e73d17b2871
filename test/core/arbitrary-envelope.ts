import fc from 'fast-check'
import type { Envelope } from '../../lib/core/envelope.js'

/** Text with everything in it that is awkward: controls, signs of every length, halves of pairs, what SNS refuses. */
export const anyText = (options: { readonly minLength?: number; readonly maxLength?: number } = {}) =>
  fc
    .array(
      fc.oneof(
        { weight: 5, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
        {
          weight: 1,
          arbitrary: fc.constantFrom('\ud800', '\udc00', '\ufffe', '\uffff', '\n', '"', '\\', '\u0000', '#', '~'),
        },
      ),
      { maxLength: options.maxLength ?? 6 },
    )
    .map((parts) => parts.join('') || 'x'.repeat(options.minLength ?? 0))

const anyValue = fc.oneof(
  anyText(),
  // JSON writes -0 as 0.
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  fc.constantFrom<number | boolean | string | null>(0, false, '', null, true),
)

const anyMap = <T>(value: fc.Arbitrary<T>) => fc.dictionary(anyText({ minLength: 1 }), value, { maxKeys: 4 })

const anyInstant = fc.integer({ min: 0, max: 10 ** 15 - 1 })

/** Envelopes of all kinds, also such as only a sender in another language could make. */
export const anyEnvelope: fc.Arbitrary<Envelope> = fc.record(
  {
    messageId: anyText({ minLength: 1 }),
    kind: fc.constantFrom('command', 'event'),
    name: anyText({ minLength: 1 }),
    body: anyText({ maxLength: 40 }),
    correlationId: anyText({ minLength: 1 }),
    attributes: anyMap(anyValue),
    stickyAttributes: anyMap(anyValue),
    headers: anyMap(anyText()),
    sentAt: anyInstant,
    key: anyText({ minLength: 1 }),
    failure: fc.record({
      count: fc.integer({ min: 1 }),
      last: fc.record({ at: anyInstant, attempt: fc.nat(), type: anyText(), message: anyText(), stack: anyText() }),
    }),
  },
  {
    requiredKeys: [
      ...(['messageId', 'kind', 'name', 'body', 'correlationId'] as const),
      ...(['attributes', 'stickyAttributes', 'headers', 'sentAt'] as const),
    ],
  },
)

/** What a delivery adds. */
export const anyDelivery = fc.record(
  {
    dueAt: anyInstant,
    attempt: fc.integer({ min: 1, max: 10 ** 6 }),
    target: fc.stringMatching(/^[\w-]{1,64}$/),
  },
  { requiredKeys: ['attempt'] },
)

const anyNote = fc.record({ at: anyInstant, attempt: fc.nat(), type: anyText(), message: anyText() })

/** As `anyEnvelope`, with what only stored envelopes have. */
export const anyStoredEnvelope: fc.Arbitrary<Envelope> = fc
  .tuple(
    anyEnvelope,
    fc.record(
      {
        discardAfterMs: anyInstant,
        failure: fc.record({ count: fc.integer({ min: 1 }), first: anyNote, last: anyNote }),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([envelope, stored]) => ({ ...envelope, ...stored }))
