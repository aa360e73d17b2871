import type { KeyedMessage, KeyedOutcome, Keys } from '../../core/keys.js'
import type { RowAddress } from '../../core/persistence.js'
import { expectEqual } from './expectation.js'
import { DUE_AT, type SampleOptions, sampleMessage } from './message-samples.js'
import { type ContractCase, promiseOf, type Subject } from './subject.js'

/** When messages are stored, unless a test says otherwise. */
export const BEFORE = DUE_AT - 60_000
/** An hour after the due instant. */
export const LATER = DUE_AT + 3_600_000
/** The key of the tests. Any text will do, so it has what separates parts of keys elsewhere. */
export const KEY = 'invoice 17#/é'

/** A promise of persistences that keep messages under keys. */
export const promise = (name: string, check: ContractCase['check']): ContractCase => promiseOf('keys', name, check)

/** A message under the key of the tests. */
export const keyed = (id: string, options: Partial<SampleOptions> = {}): KeyedMessage => {
  const message = sampleMessage({ id, body: JSON.stringify({ of: id }), ...options })
  return { ...message, key: options.key ?? KEY }
}

const keysOf = ({ persistence }: Subject): Keys => {
  if (persistence.keys !== undefined) return persistence.keys
  throw new Error(`${persistence.name} has no keys: give { without: ['keys'] } to leave this out`)
}

/** Stores a message under its key. */
export const storeKeyed = (
  subject: Subject,
  message: KeyedMessage,
  ifScheduled: Parameters<Keys['storeUnderKey']>[1] = 'keep',
  now = BEFORE,
): Promise<KeyedOutcome> => keysOf(subject).storeUnderKey(message, ifScheduled, now)

/** Stores a message under its key, which must succeed; answers its address. */
export const storeNewKeyed = async (
  subject: Subject,
  message: KeyedMessage,
  ifScheduled: Parameters<Keys['storeUnderKey']>[1] = 'keep',
  now = BEFORE,
): Promise<RowAddress> => {
  const found = await storeKeyed(subject, message, ifScheduled, now)
  if (found.outcome !== 'stored') throw new Error(`expected ${message.rowId} to be stored\nfound: ${nameOf(found)}`)
  return found.address
}

/** What an outcome is called, and why where it failed. */
export const nameOf = (found: KeyedOutcome): string =>
  found.outcome === 'failed' ? `failed: ${found.error}` : found.outcome

/** The row that holds a key, by its id. */
export const holderOf = async (subject: Subject, key = KEY): Promise<string | undefined> =>
  (await keysOf(subject).findKey(key))?.rowId

/** The ids and instants of all that is claimed at an instant. */
export const claimedAt = async (subject: Subject, now: number): Promise<string[]> =>
  (await subject.claim(now)).claims.map(({ rowId, dueAt }) => `${rowId} ${dueAt - DUE_AT}`)

/** Expects the rows that wait, each with how long after `DUE_AT` it is due. They are claimed by this. */
export const expectWaiting = async (subject: Subject, ...rows: readonly string[]): Promise<void> =>
  expectEqual('the rows', await claimedAt(subject, LATER + 86_400_000), rows)
