import type { Envelope } from './envelope.js'
import type { PostdateError } from './errors.js'
import type { AskedKey } from './keys.js'
import type { OutgoingMessage } from './persistence.js'

/** What a sender gets back. */
export interface Receipt {
  /** `sent`: published. `scheduled`: its row is durable. `buffered`: goes out when the handler has resolved. */
  readonly status: 'sent' | 'scheduled' | 'buffered'
  readonly messageId: string
  /** When it will be delivered, epoch milliseconds; absent when it goes at once. */
  readonly dueAt?: number
  /** Withdraws it, from anywhere and for ever; absent when it goes at once. */
  readonly recallHandle?: string
  /**
   * Nothing was stored: a message was scheduled under the key already and is kept, and this is its receipt. Known once the
   * store was asked, so never of what is buffered. @default false
   */
  readonly duplicate?: true
}

/** A message that is ready to go: to the store if it has a row, else to the transport. */
export interface PreparedMessage {
  readonly envelope: Envelope
  readonly row?: OutgoingMessage
  readonly recallHandle?: string
  /** It goes under a key. */
  readonly asked?: AskedKey
}

/** What became of a prepared message; the error carries the receipt. `receipt`: another than that of what was prepared. */
export type DeliveryResult =
  | { readonly ok: true; readonly receipt?: Receipt }
  | { readonly ok: false; readonly error: PostdateError }

/** The receipt of a prepared message. */
export const receiptOf = (prepared: PreparedMessage, status: 'done' | 'buffered'): Receipt => {
  const { envelope, row, recallHandle } = prepared
  return {
    status: status === 'buffered' ? 'buffered' : row === undefined ? 'sent' : 'scheduled',
    messageId: envelope.messageId,
    ...(row !== undefined && { dueAt: row.dueAt }),
    ...(recallHandle !== undefined && { recallHandle }),
  }
}
