import { type Ids, randomIds } from '../core/ids.js'
import type { Coordination, DelayingPersistence, Inspection, Persistence } from '../core/persistence.js'
import { claimDue } from './claim-due.js'
import { createCoordination } from './coordinate.js'
import { estimateRows, listRows, peekRow } from './inspect-rows.js'
import { listDead } from './list-dead.js'
import { measureBacklog } from './measure-backlog.js'
import { purgeRow, putBackRow } from './put-back.js'
import { recallMessage } from './recall-message.js'
import { rescheduleMessage } from './reschedule-message.js'
import type { MemoryStore } from './rows.js'
import { releaseClaim, settleClaim } from './settle-claims.js'
import { storeMessage } from './store-messages.js'
import { findKey, storeUnderKey } from './store-under-key.js'

/** Options of the persistence in memory. */
export interface MemoryPersistenceOptions {
  /** Where the tokens of lease registers come from. @default random ones */
  readonly ids?: Ids
  /** How many slices senders spread the rows over; an integer from 1. @default 1 */
  readonly shards?: number
}

/** A persistence in the memory of this process. */
export type MemoryPersistence = DelayingPersistence &
  Required<Pick<Persistence, 'rescheduleOutgoingMessage' | 'keys'>> & {
    readonly coordination: Coordination
    readonly inspection: Inspection
  }

/**
 * Keeps delayed messages in the memory of this process: the default of a bus, for development and tests. It follows the
 * lease register exactly as the durable stores do, and loses everything when the process ends.
 * @example
 * const bus = createBus({ name: 'orders', transport: memoryTransport(), persistence: memoryPersistence() })
 */
export const memoryPersistence = (options: MemoryPersistenceOptions = {}): MemoryPersistence => {
  const { ids = randomIds, shards = 1 } = options
  const store: MemoryStore = {
    newToken: () => ids.token(),
    due: new Map(),
    dead: new Map(),
    moved: new Map(),
    keys: new Map(),
  }
  // No command waits for anything while it works, so each is a step that no other can come between.
  return {
    name: 'memory',
    durable: false,
    coordination: createCoordination(shards),
    keys: {
      storeUnderKey: async (message, ifScheduled, now) => storeUnderKey(store, message, ifScheduled, now),
      findKey: async (key) => findKey(store, key),
    },
    inspection: {
      list: async (request) => listRows(store, request),
      estimate: async (window) => estimateRows(store, window),
      peek: async (address, now) => peekRow(store, address, now),
      listDead: async (limit) => listDead(store, limit),
      putBack: async (address, dueAt, now) => putBackRow(store, address, dueAt, now),
      purge: async (address) => purgeRow(store, address),
    },
    storeOutgoingMessages: async (messages) => messages.map((message) => storeMessage(store, message)),
    claimDueOutgoingMessages: async (request) => claimDue(store, request),
    deleteOutgoingMessages: async (claims) => claims.map((claim) => settleClaim(store, claim)),
    releaseOutgoingMessages: async (releases) => releases.map((release) => releaseClaim(store, release)),
    recallOutgoingMessage: async (address, now) => recallMessage(store, address, now),
    rescheduleOutgoingMessage: async (address, dueAt, now) => rescheduleMessage(store, address, dueAt, now),
    measureBacklog: async (now) => measureBacklog(store, now),
  }
}
