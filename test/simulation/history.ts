import type { Envelope } from '../../lib/core/envelope.js'
import type { OutgoingMessage, RowAddress } from '../../lib/core/persistence.js'
import type { Fault } from './faults.js'
import type { SimulatedProcess } from './process.js'
import type { Trace } from './trace.js'

/** A claim, from its effect in the store on. */
export interface ClaimRecord {
  readonly process: SimulatedProcess
  readonly lease: string
  /** As the row says; by the claimer's clock. */
  readonly until: number
  /** When the claimer asked, and when the store did it; the world's time. */
  readonly askedAt: number
  readonly claimedAt: number
  /** How it ended, as far as the store knows. */
  ended?: 'settled' | 'released' | 'given-up'
  /** It was given back, or up, as surely not published. */
  endedUnpublished?: boolean
}

/** A message that reached the topic. */
export interface PublishRecord {
  readonly at: number
  readonly process: SimulatedProcess
  /** Under which claim; none for what is sent at once. */
  readonly claim: ClaimRecord | undefined
}

/** What a row of the store goes through, from its insertion to its end. */
export interface Life {
  readonly storedAt: number
  readonly storedBy: SimulatedProcess
  state: 'waiting' | 'held' | 'settled' | 'dead' | 'recalled'
  /** Not claimable before, by the clock of the claimer. */
  notBefore: number
  readonly claims: ClaimRecord[]
  readonly publishes: PublishRecord[]
  /** It was given back as perhaps published, or a lease ended without settle or release. */
  isUnsure: boolean
}

/** A row: one address. A message that is sent again for another instant has a second row. */
export interface RowRecord {
  readonly key: string
  readonly address: RowAddress
  readonly message: MessageRecord
  /** The one receiver of a redelivery, and its attempt. */
  readonly target: string | undefined
  readonly attempt: number
  /** A row that was removed and stored again has a second life. */
  readonly lives: Life[]
}

/** A message of the scenario, known by a number that its content carries. */
export interface MessageRecord {
  readonly number: string
  /** The ids that it was seen under: one, if all is well. */
  readonly ids: Set<string>
  readonly rows: RowRecord[]
  /** Publishes at once, past the store. */
  readonly immediate: PublishRecord[]
  /** How often its sender tried. */
  attempts: number
  /** Publishes that were refused for a reason that lies in this message. */
  refusals: number
  /** How many of its next publishes fail for now. */
  stumbles: number
  /** Runs of its handlers that resolved and that failed, by receiver. */
  readonly handled: Map<string, number>
  readonly failed: Map<string, number>
  /** The receivers that have it among their dead letters. */
  readonly buriedBy: Set<string>
  /** A store was refused because a recall had come first. */
  isKeptAway: boolean
}

/** A promise that was broken. */
export interface Violation {
  readonly rule: string
  readonly what: string
  /** The world's time, epoch milliseconds. */
  readonly at: number
}

/** All that was seen at the boundary between Postdate and the world. */
export interface History {
  readonly now: () => number
  readonly trace: Trace
  readonly messages: ReadonlyMap<string, MessageRecord>
  readonly rows: ReadonlyMap<string, RowRecord>
  readonly violations: readonly Violation[]
  message(number: string): MessageRecord
  messageOf(envelope: Envelope): MessageRecord
  row(address: RowAddress): RowRecord | undefined
  rowOf(message: OutgoingMessage): RowRecord
  violate(rule: string, what: string): void
}

/** The key of a row. */
export const keyOf = ({ dueAt, rowId }: RowAddress): string => `${dueAt}#${rowId}`

/** The life that a row has, or had last. */
export const lifeOf = (row: RowRecord | undefined): Life | undefined => row?.lives.at(-1)

/** The claim that a row is held by, or was last. */
export const lastClaimOf = (life: Life | undefined): ClaimRecord | undefined => life?.claims.at(-1)

/** The number that a message's content carries. */
export const numberOf = (envelope: Pick<Envelope, 'attributes'>): string => String(envelope.attributes.number)

/** Adds one. */
export const count = (counts: Map<string, number>, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** Whether a fault touched this message, or broke this process, within a time. */
export const explains = (
  fault: Fault,
  messageId: string,
  processes: readonly SimulatedProcess[],
  since: number,
): boolean =>
  fault.at >= since &&
  (fault.messageIds.includes(messageId) ||
    (/^(crash|pause|stop)/.test(fault.kind) && processes.some(({ name }) => name === fault.process)))

/** An empty history. */
export const createHistory = (now: () => number, trace: Trace): History => {
  const messages = new Map<string, MessageRecord>()
  const rows = new Map<string, RowRecord>()
  const violations: Violation[] = []

  const message = (number: string): MessageRecord => {
    const known = messages.get(number)
    if (known !== undefined) return known
    const made: MessageRecord = {
      number,
      ids: new Set<string>(),
      rows: [],
      immediate: [],
      attempts: 0,
      refusals: 0,
      stumbles: 0,
      handled: new Map(),
      failed: new Map(),
      buriedBy: new Set(),
      isKeptAway: false,
    }
    messages.set(number, made)
    return made
  }
  const violate = (rule: string, what: string): void => {
    violations.push({ rule, what, at: now() })
    trace('JUDGE', () => `VIOLATION ${rule}: ${what}`)
  }
  const messageOf = (envelope: Envelope): MessageRecord => {
    const found = message(numberOf(envelope))
    found.ids.add(envelope.messageId)
    if (found.ids.size > 1) violate('one id', `message ${found.number} is known as ${[...found.ids].join(' and ')}`)
    return found
  }

  return {
    now,
    trace,
    messages,
    rows,
    violations,
    violate,
    message,
    messageOf,
    row: (address) => rows.get(keyOf(address)),
    rowOf: (message) => {
      const key = keyOf(message)
      const known = rows.get(key)
      if (known !== undefined) return known
      const { shard, dueAt, rowId, envelope, target, attempt = 1 } = message
      const address = { shard, dueAt, rowId }
      const made: RowRecord = { key, address, message: messageOf(envelope), target, attempt, lives: [] }
      made.message.rows.push(made)
      rows.set(key, made)
      return made
    },
  }
}
