import type { Envelope } from './envelope.js'
import type { PostdateError } from './errors.js'
import type { Inspection } from './inspection.js'
import type { Keys } from './keys.js'

/** Where a row is: what a recall handle holds, and enough to find the row again for ever. */
export interface RowAddress {
  /** The slice of the due rows it is in, from 0. */
  readonly shard: number
  /** Epoch milliseconds. */
  readonly dueAt: number
  /** `messageId`, or `<messageId>~<receiver>~<attempt>` for a redelivery. */
  readonly rowId: string
  /** The instant that it was first due at, epoch milliseconds, when it was moved since. @default dueAt */
  readonly firstDueAt?: number
}

/** A message to keep until it is due. */
export interface OutgoingMessage extends RowAddress {
  readonly envelope: Envelope
  /** The one receiver of a redelivery. */
  readonly target?: string
  /** Counts deliveries to one receiver. @default 1 */
  readonly attempt?: number
  /** The key that it is scheduled under; see `Keys`. */
  readonly key?: string
}

/** What became of one stored message. Each message of a batch has its own outcome. */
export type StoreOutcome =
  /** Durable now. */
  | { readonly outcome: 'stored' }
  /** The same message was there already: sent twice under one id. */
  | { readonly outcome: 'duplicate' }
  /** It was recalled, and stays so: nothing was stored. */
  | { readonly outcome: 'recalled' }
  /** The id is taken by a message with other content: nothing was stored. */
  | { readonly outcome: 'conflict' }
  /** The store could not; `stored` tells whether it may be there all the same. */
  | { readonly outcome: 'failed'; readonly stored: 'no' | 'unknown'; readonly error: PostdateError }

/** A look at the due rows. */
export interface ClaimRequest {
  /** Judges leases. Epoch milliseconds. */
  readonly now: number
  /** Judges what is due: rows with `dueAt <= dueBefore`. `now` plus the look-ahead. Epoch milliseconds. */
  readonly dueBefore: number
  /** The most rows to claim. */
  readonly limit: number
  /** The most bytes of envelopes to claim; one row is always allowed. @default no limit */
  readonly maxBytes?: number
  /** How long the claims last. */
  readonly leaseMs: number
  /** The shards to look at. @default all */
  readonly shards?: readonly number[]
}

/** The right to publish one row until its lease ends. */
export interface Claim extends RowAddress {
  /** The register that this claim wrote; settle and release compare with it. */
  readonly lease: string
  /** Epoch milliseconds. Others may claim the row from then on plus the margin. */
  readonly leaseUntil: number
  /** The message; a text saying why it can't be read, in which case the row is to be given up. */
  readonly envelope: Envelope | string
  /** The bytes of the stored envelope. */
  readonly bytes: number
  readonly target?: string
  readonly attempt: number
  /** How many claims in a row ended without settle or release, this one included. */
  readonly claims: number
  /** How many publishes failed for a reason that lies in this row. */
  readonly failures: number
}

/** What a look at the due rows found. */
export interface ClaimResult {
  readonly claims: readonly Claim[]
  /**
   * The earliest instant (epoch ms) at which a row that was not claimed may become claimable, as far as is known: a row
   * due later, or one that another holds or that was given back. `undefined`: nothing waits.
   */
  readonly nextDueAt: number | undefined
  /** There may be more to claim right now. */
  readonly more: boolean
}

/** What became of a settled or released claim. */
export type SettleOutcome =
  | { readonly outcome: 'settled' }
  /** The row is not there any more. */
  | { readonly outcome: 'gone' }
  /** Another holds the row by now: the claim had ended. */
  | { readonly outcome: 'lease-lost' }
  /** The store could not; may be tried again while the lease lasts. */
  | { readonly outcome: 'failed'; readonly error: PostdateError }

/** A claim given back. */
export interface Release {
  readonly claim: Claim
  /** Whether the message may have gone out under this claim. `perhaps` makes a later recall answer `possibly-delivered`. */
  readonly published: 'no' | 'perhaps'
  /** Not claimable before; epoch milliseconds. */
  readonly notBefore: number
  /** The row's count of failures from now on. @default as claimed */
  readonly failures?: number
  /** Give the row up: move it to the dead rows, with the reason. */
  readonly dead?: { readonly reason: string; readonly diedAt: number }
}

/** What a recall found. */
export type RecallOutcome =
  /** Withdrawn; it was not and will not be delivered. */
  | 'recalled'
  /** An earlier recall had withdrawn it. */
  | 'already-recalled'
  /** It is being delivered or was. */
  | 'too-late'
  /** Withdrawn, but an earlier try to publish it may have gone out. */
  | 'possibly-delivered'
  /** Nothing is stored under this handle, and from now on nothing can be. */
  | 'not-found'

/** What became of a row that was to be moved to another instant. */
export type RescheduleOutcome =
  /** It waits for the new instant, and no longer for the old one. `possibly-delivered`: an earlier try to publish it may have gone out. */
  | { readonly outcome: 'rescheduled' | 'possibly-delivered'; readonly address: RowAddress }
  /**
   * Nothing was moved. `too-late`: it is being delivered or was. `recalled`: it was withdrawn. `dead`: it was given up on.
   * `not-found`: nothing is stored under this address.
   */
  | { readonly outcome: 'too-late' | 'recalled' | 'dead' | 'not-found' }

/** The rows due and not yet dispatched. */
export interface Backlog {
  /** Rows due at `now`, claimed or not; counted up to a bound. */
  readonly due: number
  /** Whether the count stopped at its bound. */
  readonly capped: boolean
  /** The due instant of the oldest; epoch milliseconds. */
  readonly oldestDueAt: number | undefined
  /** Rows that were given up on; counted up to a bound. */
  readonly dead: number
}

/**
 * Keeps outgoing messages until they are due. Method names come from the proposal that this implements; a persistence
 * without them can't delay. No method knows the time but by its arguments.
 * @see https://github.com/node-ts/bus
 */
export interface Persistence {
  readonly name: string
  /** `false`: a restart loses what is scheduled, and the bus warns once. @default true */
  readonly durable?: boolean
  /** The largest stored envelope, in bytes. @default no limit */
  readonly maxEnvelopeBytes?: number
  /** What several processes agree on. @default one shard, no worker lease */
  readonly coordination?: Coordination
  /** What keeps at most one message under a key. @default sends with a key are refused */
  readonly keys?: Keys
  /** What operators look at. @default `createOperator` refuses it */
  readonly inspection?: Inspection
  /** Stores messages; resolves when they are durable. One outcome per message, in order. */
  storeOutgoingMessages?(messages: readonly OutgoingMessage[]): Promise<readonly StoreOutcome[]>
  /** Claims due rows, oldest first. No two callers hold a live lease on one row. */
  claimDueOutgoingMessages?(request: ClaimRequest): Promise<ClaimResult>
  /** Removes published rows, each only if its lease is still the claim's. One outcome per claim, in order. */
  deleteOutgoingMessages?(claims: readonly Claim[]): Promise<readonly SettleOutcome[]>
  /** Gives claims back, or moves their rows to the dead ones, under the same condition. One outcome per release, in order. */
  releaseOutgoingMessages?(releases: readonly Release[]): Promise<readonly SettleOutcome[]>
  /** Withdraws a row before it is dispatched. */
  recallOutgoingMessage?(address: RowAddress, now: number): Promise<RecallOutcome>
  /** Counts what is due and not dispatched. */
  measureBacklog?(now: number): Promise<Backlog>
  /**
   * Moves a row to another instant (epoch milliseconds, `now` or later), whether that is earlier or later: never both rows,
   * never neither. Addresses of before and after lead to the row from then on. A row that may be claimed at `now` already
   * stays where it is when it is to be due by then.
   */
  rescheduleOutgoingMessage?(address: RowAddress, dueAt: number, now: number): Promise<RescheduleOutcome>
}

/** A persistence that can delay. */
export type DelayingPersistence = Persistence & Required<Omit<Persistence, OptionalPart>>

/** What a persistence may lack and delay all the same. */
type OptionalPart =
  | 'durable'
  | 'maxEnvelopeBytes'
  | 'coordination'
  | 'keys'
  | 'inspection'
  | 'rescheduleOutgoingMessage'

/** How many slices the due rows are in. */
export interface ShardCounts {
  /** Senders choose one of the first so many. */
  readonly write: number
  /** Dispatchers read the first so many. Only grows. */
  readonly read: number
}

/** Who dispatches: advice that saves failed writes, never the law; that is the row's lease. */
export interface WorkerLease {
  readonly owner: string
  /** Grows by one at every change of owner. */
  readonly epoch: number
  /** Epoch milliseconds; 0 when released. */
  readonly leaseUntil: number
  /** When the owner will stop by itself; epoch milliseconds. */
  readonly stopsAt: number
}

/** What dispatchers and senders of one store agree on. */
export interface Coordination {
  /** The shard counts now in force. May answer from a cache of a minute, since the read count only grows. */
  readShards(): Promise<ShardCounts>
  /** How many shards senders choose among, where that can be told with less than `readShards`. */
  writeShards?(): Promise<number>
  /** Makes dispatchers read at least so many shards; never fewer than before. */
  growShards(atLeast: number): Promise<ShardCounts>
  /** The worker lease as it is, read consistently; `undefined` before the first. */
  readWorker(): Promise<WorkerLease | undefined>
  /** Replaces the worker lease if it is still the one that was seen; answers whether it did. */
  takeWorker(next: WorkerLease, seen: WorkerLease | undefined): Promise<boolean>
  /** Whether dispatching is paused, read consistently. Absent: it can't be. */
  readPause?(): Promise<PauseState>
  /** Replaces the pause if its version is still the one before; answers whether it did. */
  setPause?(next: PauseState): Promise<boolean>
}

/** Whether dispatching is paused. */
export interface PauseState {
  readonly paused: boolean
  /** Grows by one at every change; 0 before the first. */
  readonly version: number
}

export type { DeadRow, Inspection } from './inspection.js'

const DELAYING = [
  'storeOutgoingMessages',
  'claimDueOutgoingMessages',
  'deleteOutgoingMessages',
  'releaseOutgoingMessages',
  'recallOutgoingMessage',
  'measureBacklog',
] as const

/** The methods that delaying needs and a persistence lacks. */
export const missingMethods = (persistence: Persistence): readonly string[] =>
  DELAYING.filter((method) => persistence[method] === undefined)

/** Whether a persistence has every method that delaying needs. */
export const canDelay = (persistence: Persistence): persistence is DelayingPersistence =>
  missingMethods(persistence).length === 0
