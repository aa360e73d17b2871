import { type Envelope, toJsonText } from '../../core/envelope.js'
import { expectEqual } from './expectation.js'
import { bodyOfBytes, DUE_AT, sampleMessage, sampleMessages } from './message-samples.js'
import { expectBack } from './storing.js'
import { type ContractCase, promise } from './subject.js'

const comesBack = (what: string, options: { body?: string; envelope?: Partial<Envelope> }): ContractCase =>
  promise(`a message with ${what} comes back as it was stored`, async (subject) => {
    const message = sampleMessage({ id: 'one', ...options })
    await subject.storeNew(message)
    await expectBack(subject, message)
  })

/** What storing and claiming promise of the content of a message. */
export const roundTripCases: readonly ContractCase[] = [
  comesBack('falsy attribute values', {
    envelope: {
      attributes: { zero: 0, no: false, empty: '', nothing: null },
      stickyAttributes: { zero: 0, no: false, empty: '', nothing: null },
      headers: { empty: '' },
    },
  }),
  comesBack('no attributes at all', { envelope: { attributes: {}, stickyAttributes: {}, headers: {} } }),
  comesBack('its own id as correlation id', { envelope: { correlationId: 'one' } }),
  comesBack('a time after which it is discarded', { envelope: { discardAfterMs: 90_061_001 } }),
  comesBack('kind event', { envelope: { kind: 'event', name: 'orders/placed' } }),
  comesBack('characters of every length', {
    body: toJsonText({ text: 'a ß € 😀 \u2028 \u0000 "quoted" \\ line\nbreak \uFFFE\uFFFF' }),
    envelope: { attributes: { 'größe 😀': '\uFFFF \n ' }, headers: { tracestate: 'ä=1,b=😀' } },
  }),
  comesBack('a body that has line breaks and spaces of its own', { body: '{ "pretty" :\n\n\t1.0 }\n' }),
  comesBack('numbers that lose digits when parsed', { body: '{"id":12345678901234567890,"x":1e2,"y":-0.0}' }),
  comesBack('a body of 10 KB', { body: bodyOfBytes(10_240) }),
  comesBack('a body of 200 KB', { body: bodyOfBytes(204_800) }),
  comesBack('a body of 60,000 characters of three bytes', { body: `"${'€'.repeat(60_000)}"` }),
  comesBack('long attributes', { envelope: { attributes: { note: bodyOfBytes(3_000) } } }),
  promise('bodies of every size around 1 KB come back as they were stored', async (subject) => {
    const messages = sampleMessages(60, 'size', (index) => ({
      body: bodyOfBytes(480 + index * 11),
      dueAt: DUE_AT + index,
    }))
    await subject.storeNew(...messages)
    const { claims } = await subject.claim(DUE_AT + 60)
    expectEqual(
      'the envelopes',
      claims.map(({ envelope }) => envelope),
      messages.map(({ envelope }) => envelope),
    )
  }),
]
