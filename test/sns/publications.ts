import type { Envelope } from '../../lib/core/envelope.js'
import type { Publication } from '../../lib/core/transport.js'

/** A publication of a small command. */
export const publicationOf = (
  messageId: string,
  changes: Partial<Envelope> = {},
  delivery: Partial<Publication['delivery']> = {},
): Publication => ({
  envelope: {
    messageId,
    kind: 'command',
    name: 'orders/place',
    body: JSON.stringify({ $name: 'orders/place', $version: 1, orderId: messageId }),
    correlationId: messageId,
    attributes: {},
    stickyAttributes: {},
    headers: {},
    sentAt: 1_700_000_000_000,
    ...changes,
  },
  delivery: { attempt: 1, ...delivery },
})
