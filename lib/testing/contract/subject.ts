import { LEASE_MARGIN_MS } from '../../core/lease.js'
import type {
  Claim,
  ClaimRequest,
  ClaimResult,
  OutgoingMessage,
  Release,
  RescheduleOutcome,
  RowAddress,
} from '../../core/persistence.js'
import type { PersistenceUnderTest } from '../scheduled-message-tests.js'
import { expectEqual } from './expectation.js'
import { DUE_AT } from './message-samples.js'

/** How long the tests' claims last unless they say otherwise. */
export const LEASE_MS = 30_000

/** The instant from which others may claim what was claimed at `DUE_AT`. */
export const LEASE_ENDS_AT = DUE_AT + LEASE_MS + LEASE_MARGIN_MS

/** A fresh persistence, and the short forms in which the tests speak to it. */
export interface Subject {
  readonly persistence: PersistenceUnderTest
  /** Stores messages; answers the outcomes' names. */
  store(...messages: readonly OutgoingMessage[]): Promise<string[]>
  /** Stores messages, each of which must be new. */
  storeNew(...messages: readonly OutgoingMessage[]): Promise<void>
  /** Looks for what is due at an instant, without look-ahead, up to 1,000 rows, in shard 0. */
  claim(now: number, options?: Partial<ClaimRequest>): Promise<ClaimResult>
  /** As `claim`, when exactly one row must be found. */
  claimOne(now: number, options?: Partial<ClaimRequest>): Promise<Claim>
  /** As `claim`; answers the ids of the rows. */
  claimIds(now: number, options?: Partial<ClaimRequest>): Promise<string[]>
  /** Removes claimed rows; answers the outcomes' names. */
  settle(...claims: readonly Claim[]): Promise<string[]>
  /** Gives claims back; answers the outcomes' names. */
  release(...releases: readonly Release[]): Promise<string[]>
  recall(address: RowAddress, now: number): Promise<string>
  /** Moves a row to another instant. */
  reschedule(address: RowAddress, dueAt: number, now: number): Promise<RescheduleOutcome>
}

/** An address without the rest of a row. */
const addressOf = ({ shard, dueAt, rowId, firstDueAt }: RowAddress): RowAddress => ({
  shard,
  dueAt,
  rowId,
  ...(firstDueAt !== undefined && { firstDueAt }),
})

const namesOf = (outcomes: readonly { readonly outcome: string }[]) =>
  outcomes.map((outcome) => ('error' in outcome ? `${outcome.outcome}: ${outcome.error}` : outcome.outcome))

/** The ids of claimed rows, in order. */
export const idsOf = (rows: readonly RowAddress[]): string[] => rows.map(({ rowId }) => rowId)

/** Wraps a persistence. */
export const createSubject = (persistence: PersistenceUnderTest): Subject => {
  const store: Subject['store'] = async (...messages) => namesOf(await persistence.storeOutgoingMessages(messages))
  const claim: Subject['claim'] = (now, options) =>
    persistence.claimDueOutgoingMessages({
      now,
      dueBefore: now,
      limit: 1_000,
      leaseMs: LEASE_MS,
      shards: [0],
      ...options,
    })
  return {
    persistence,
    store,
    storeNew: async (...messages) => {
      expectEqual(
        'new messages are stored',
        await store(...messages),
        messages.map(() => 'stored'),
      )
    },
    claim,
    claimOne: async (now, options) => {
      const { claims } = await claim(now, options)
      const [only] = claims
      if (only === undefined || claims.length > 1) {
        throw new Error(`expected exactly one claimable row at ${now}\nfound: ${JSON.stringify(idsOf(claims))}`)
      }
      return only
    },
    claimIds: async (now, options) => idsOf((await claim(now, options)).claims),
    settle: async (...claims) => namesOf(await persistence.deleteOutgoingMessages(claims)),
    release: async (...releases) => namesOf(await persistence.releaseOutgoingMessages(releases)),
    recall: (address, now) => persistence.recallOutgoingMessage(addressOf(address), now),
    reschedule: async (address, dueAt, now) => {
      const { rescheduleOutgoingMessage } = persistence
      if (rescheduleOutgoingMessage === undefined)
        throw new Error(`${persistence.name} can't reschedule: give { without: ['reschedule'] } to leave this out`)
      return rescheduleOutgoingMessage(addressOf(address), dueAt, now)
    },
  }
}

/** A part that a persistence may lack. */
export type OptionalPart = 'coordination' | 'pause' | 'inspection' | 'reschedule' | 'keys'

/** One promise of the contract, before it is bound to a persistence. */
export interface ContractCase {
  readonly name: string
  /** The optional part of a persistence that it looks at. */
  readonly needs?: OptionalPart
  readonly check: (subject: Subject) => Promise<void>
}

/** A promise, and the check of it. */
export const promise = (name: string, check: ContractCase['check']): ContractCase => ({ name, check })

/** A promise of an optional part of a persistence. */
export const promiseOf = (needs: OptionalPart, name: string, check: ContractCase['check']): ContractCase => ({
  name,
  needs,
  check,
})

/** A release without failures, surely not published, claimable again at `notBefore`. */
export const giveBack = (claim: Claim, notBefore: number, options: Partial<Release> = {}): Release => ({
  claim,
  published: 'no',
  notBefore,
  ...options,
})
