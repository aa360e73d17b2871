import type { Envelope } from '../../core/envelope.js'
import type { OutgoingMessage } from '../../core/persistence.js'

/** The instant at which the tests' messages are due unless they say otherwise. Of no meaning, and all digits differ. */
export const DUE_AT = Date.UTC(2031, 4, 6, 17, 28, 39) + 415

/** What a test says of a message; the rest is filled in. */
export interface SampleOptions extends Partial<Omit<OutgoingMessage, 'envelope'>> {
  /** The message id, and the row id unless one is given. */
  readonly id: string
  /** The JSON text of the message. */
  readonly body?: string
  readonly envelope?: Partial<Envelope>
}

/** Makes a message: in shard 0, due at `DUE_AT`, with a small body that tells its id. */
export const sampleMessage = (options: SampleOptions): OutgoingMessage => {
  const { id, body = JSON.stringify({ $name: 'orders/place', $version: 1, of: id }), envelope, ...row } = options
  return {
    shard: 0,
    dueAt: DUE_AT,
    rowId: id,
    ...row,
    envelope: {
      messageId: id,
      kind: 'command',
      name: 'orders/place',
      body,
      correlationId: 'conversation-1',
      attributes: { customer: 'c-7' },
      stickyAttributes: {},
      headers: {},
      sentAt: DUE_AT - 86_400_000,
      ...envelope,
    },
  }
}

/** Makes so many messages, `<prefix>-00`, `<prefix>-01` and on. */
export const sampleMessages = (
  count: number,
  prefix: string,
  options: (index: number) => Partial<SampleOptions> = () => ({}),
): OutgoingMessage[] =>
  Array.from({ length: count }, (_, index) =>
    sampleMessage({ id: `${prefix}-${String(index).padStart(2, '0')}`, ...options(index) }),
  )

/** A body of so many bytes, no two positions of which could be mixed up unseen. */
export const bodyOfBytes = (bytes: number): string => {
  let text = ''
  for (let word = 0; text.length < bytes; word++) text += `${word.toString(36)} `
  return `"${text.slice(0, bytes - 2)}"`
}
