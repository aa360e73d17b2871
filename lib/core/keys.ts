import { describeValue } from './describe-value.js'
import type { Envelope } from './envelope.js'
import { PostdateError } from './errors.js'
import type { RowAddress, StoreOutcome } from './persistence.js'

/**
 * What happens when a message is scheduled under the key already. `keep`: it stays, and nothing is sent. `replace`: it gives
 * way, its time and content with it. `replace-payload`: it gives way, and the new message is due when it was. `reject`: it
 * stays, and the send is an error.
 */
export type IfScheduled = 'keep' | 'replace' | 'replace-payload' | 'reject'

/** The names of the choices. */
const CHOICES: readonly string[] = ['keep', 'replace', 'replace-payload', 'reject'] satisfies IfScheduled[]

/** At most one message is scheduled under a key. */
export type KeyOptions =
  | {
      /** 1 to 256 characters. Free again once its message was recalled, or its delivery has begun. */
      readonly key: string
      /** @default 'keep' */
      readonly ifScheduled?: IfScheduled
    }
  | { readonly key?: never; readonly ifScheduled?: never }

/** The names of the key options. */
export const KEY_OPTIONS = ['key', 'ifScheduled'] as const

/** A message that is to be stored under a key. */
export interface KeyedMessage extends RowAddress {
  readonly envelope: Envelope
  readonly key: string
}

/** What became of a message that was to be stored under a key. */
export type KeyedOutcome =
  /** Durable now. With `replace-payload` its address may be another than the one asked for. */
  | { readonly outcome: 'stored'; readonly address: RowAddress; readonly replaced?: RowAddress }
  /** The same message was there already, under this address. */
  | { readonly outcome: 'duplicate'; readonly address: RowAddress }
  /** Another message is scheduled under the key and stays. Nothing was stored. */
  | { readonly outcome: 'kept'; readonly address: RowAddress }
  | Extract<StoreOutcome, { readonly outcome: 'recalled' | 'conflict' | 'failed' }>

/** What keeps at most one scheduled message under a key. */
export interface Keys {
  /**
   * Stores a message under its key. A message that waits under the key, whatever its row went through, is kept or gives way;
   * one that is leased is being delivered, and holds its key no longer. Whoever gives way is withdrawn by the write that lets
   * the new one count: never both, never neither. Never throws.
   */
  storeUnderKey(message: KeyedMessage, ifScheduled: Exclude<IfScheduled, 'reject'>, now: number): Promise<KeyedOutcome>
  /** Where the message is that was last stored under a key, in whatever state; `undefined` when there is none any more. */
  findKey(key: string): Promise<RowAddress | undefined>
}

/** A key, as a sender gave it. */
export interface AskedKey {
  readonly key: string
  readonly ifScheduled: IfScheduled
}

const isUnsendable = (character: string): boolean => character < ' ' || /\p{Surrogate}/u.test(character)

/**
 * Checks a key.
 * @throws PostdateError `options.invalid`
 */
export const checkKey = (key: unknown): string => {
  const good = typeof key === 'string' && key !== '' && key.length <= 256 && ![...key].some(isUnsendable)
  if (good) return key
  const rule = 'it must be text of 1 to 256 characters without control characters and halves of pairs'
  throw new PostdateError('options.invalid', { option: 'key', value: describeValue(key), rule })
}

/**
 * Reads the key options of a send; `undefined` for a send without a key.
 * @throws PostdateError `options.invalid`
 */
export const readKeyOptions = (options: object): AskedKey | undefined => {
  const { key, ifScheduled = 'keep' } = options as { readonly key?: unknown; readonly ifScheduled?: unknown }
  const refuse = (option: string, value: unknown, rule: string) =>
    new PostdateError('options.invalid', { option, value: describeValue(value), rule })
  if (!('key' in options)) {
    if ('ifScheduled' in options) throw refuse('ifScheduled', ifScheduled, 'it goes with a key')
    return undefined
  }
  if (typeof ifScheduled !== 'string' || !CHOICES.includes(ifScheduled))
    throw refuse('ifScheduled', ifScheduled, `it must be one of ${CHOICES.join(', ')}`)
  return { key: checkKey(key), ifScheduled: ifScheduled as IfScheduled }
}
