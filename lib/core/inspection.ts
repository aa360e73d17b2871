import type { Envelope } from './envelope.js'
import type { MessageKind } from './message.js'
import type { RowAddress } from './persistence.js'

/** A row as operators see it, without its content. */
export interface ListedRow extends RowAddress {
  /**
   * `waiting`: nobody holds it. `leased`: it is being delivered. `recalled`: withdrawn, and soon gone. `dead`: given up on.
   */
  readonly state: 'waiting' | 'leased' | 'recalled' | 'dead'
  /** Empty where the row can't be read. */
  readonly name: string
  readonly kind: MessageKind
  readonly correlationId: string
  readonly key?: string
  /** The one receiver of a redelivery. */
  readonly target?: string
  readonly attempt: number
  /** From when on it may be claimed, epoch milliseconds, where that is later than its due instant. */
  readonly notBefore?: number
  /** An earlier try to publish it may have gone out. */
  readonly perhapsPublished: boolean
  readonly failures: number
  /** The bytes of the stored envelope; 0 where it was removed. */
  readonly bytes: number
}

/** A row with its content. */
export interface PeekedRow extends ListedRow {
  /** The message; a text saying why it can't be read; `undefined` where it was withdrawn. */
  readonly envelope: Envelope | string | undefined
  /** Why and when (epoch milliseconds) it was given up on; only of a dead row. */
  readonly death?: { readonly reason: string; readonly diedAt: number }
}

/** A row that was given up on. */
export interface DeadRow extends RowAddress {
  readonly envelope: Envelope | string
  readonly reason: string
  readonly diedAt: number
  readonly failures: number
}

/** Which rows are asked for: due from `dueFrom` on and before `dueBefore`, epoch milliseconds. */
export interface DueWindow {
  readonly dueFrom: number
  readonly dueBefore: number
}

/** A look at rows that wait. */
export interface ListRequest extends DueWindow {
  /** Judges leases. Epoch milliseconds. */
  readonly now: number
  /** The most rows to answer. */
  readonly limit: number
  /** Where the last page ended. @default at the beginning */
  readonly cursor?: string
  /** Answers only these. It sees every row that is read, and reading is what costs. @default all but recalled rows */
  readonly accepts?: (row: ListedRow) => boolean
}

/** Rows in the order of their due instants. */
export interface ListPage {
  readonly rows: readonly ListedRow[]
  /** Where the next page begins; absent when nothing follows. A page may be empty, and more follow. */
  readonly cursor?: string
}

/** What reading a window of rows costs. */
export interface ReadCost {
  /** Rows in the window, whatever they match. */
  readonly rows: number
  /** What the store charges for reading them, in its own units; 0 where it does not charge. */
  readonly readUnits: number
  /** The counting stopped at its bound: there are at least so many. */
  readonly isLowerBound: boolean
}

/** What became of a dead row that was to be put back. */
export type PutBackOutcome =
  /** It waits again, under this address; its earlier ones lead to it. */
  | { readonly outcome: 'put-back'; readonly address: RowAddress }
  /** Another message is scheduled under its key by now. Nothing was changed. */
  | { readonly outcome: 'key-taken'; readonly by: RowAddress }
  /** There is no such dead row. */
  | { readonly outcome: 'not-found' }

/** What operators look at, and do about what was given up on. */
export interface Inspection {
  /** Rows that wait, are leased or were recalled, in the order of their due instants. */
  list(request: ListRequest): Promise<ListPage>
  /** What reading a window would cost; counts up to a bound, for less than that. */
  estimate(window: DueWindow): Promise<ReadCost>
  /** The row of an address, wherever it was moved; `undefined` if there is none. */
  peek(address: RowAddress, now: number): Promise<PeekedRow | undefined>
  /** Dead rows, oldest first. */
  listDead(limit: number): Promise<readonly DeadRow[]>
  /** Lets a dead row wait again, for an instant (epoch milliseconds, `now` or later), without its failures. */
  putBack(address: RowAddress, dueAt: number, now: number): Promise<PutBackOutcome>
  /** Removes a dead row and its content for good. Answers whether there was one. */
  purge(address: RowAddress): Promise<boolean>
}
