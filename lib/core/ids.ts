import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** Where ids come from. Tests give their own, so that a run can be repeated. */
export interface Ids {
  /** A new message id. */
  messageId(): string
  /** A new token of a lease register: at most 11 characters without `#`. */
  token(): string
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const TOKEN_LENGTH = 11
/** Random bytes are drawn for so many tokens at once: a draw costs about the same for one. */
const block = new Uint8Array(TOKEN_LENGTH * 512)
let used = block.length

/** Ids from the platform's secure random source. */
export const randomIds: Ids = {
  messageId: () => crypto.randomUUID(),
  token: () => {
    if (used === block.length) {
      crypto.getRandomValues(block)
      used = 0
    }
    let token = ''
    for (const byte of block.subarray(used, used + TOKEN_LENGTH)) token += ALPHABET[byte & 63]
    used += TOKEN_LENGTH
    return token
  },
}

/** SHA-256 of a text, in hexadecimal digits. */
export const hashText = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))

/** What the id of a handler's send is made from. */
export interface SendOrigin {
  /** The id of the message that is handled. */
  readonly incomingId: string
  readonly receiver: string
  readonly handler: string
  /** What the message says: kind, `$name`, body and attributes. */
  readonly content: string
  /** How many equal sends came before in this run of the handler. */
  readonly occurrence: number
}

/**
 * The id of a message that a handler sends: the same in every run of that handler for that incoming message, so that a
 * retried handler repeats its ids, and never the same for other content. A UUID of version 8 (RFC 9562), from a SHA-256.
 */
export const deriveMessageId = (origin: SendOrigin): string => {
  const { incomingId, receiver, handler, content, occurrence } = origin
  const hash = hashText(JSON.stringify([incomingId, receiver, handler, content, occurrence]))
  const variant = '89ab'[Number.parseInt(hash.charAt(16), 16) & 3] ?? '8'
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/** The shard of a message: chosen by its id and never by its time, so that half a million due in one second are spread. */
export const shardOf = (messageId: string, shards: number): number =>
  Number.parseInt(hashText(messageId).slice(0, 8), 16) % shards
