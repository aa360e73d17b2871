import type { DelayingPersistence, Inspection } from '../core/persistence.js'
import { backlogCases } from './contract/backlog.js'
import { claimOrderCases } from './contract/claim-order.js'
import { claimingCases } from './contract/claiming.js'
import { coordinatingCases } from './contract/coordinating.js'
import { deadRowCases } from './contract/dead-rows.js'
import { givingUpCases } from './contract/giving-up.js'
import { historyCases } from './contract/histories.js'
import { inspectingCases } from './contract/inspecting.js'
import { keyCases } from './contract/keys.js'
import { leaseStateCases } from './contract/lease-states.js'
import { movedAddressCases } from './contract/moved-addresses.js'
import { pausingCases } from './contract/pausing.js'
import { recallRaceCases } from './contract/recall-races.js'
import { recallingCases } from './contract/recalling.js'
import { releasingCases } from './contract/releasing.js'
import { reschedulingCases } from './contract/rescheduling.js'
import { reschedulingRaceCases } from './contract/rescheduling-races.js'
import { roundTripCases } from './contract/round-trips.js'
import { settlingCases } from './contract/settling.js'
import { storingCases } from './contract/storing.js'
import { type ContractCase, createSubject, type OptionalPart } from './contract/subject.js'
import { waitingCases } from './contract/waiting.js'

/** A persistence under test. Dead rows are also listed where it has an inspection. */
export type PersistenceUnderTest = DelayingPersistence & { readonly inspection?: Inspection }

/** One promise of the contract. */
export interface ScheduledMessageTest {
  /** What the promise is about. */
  readonly topic: string
  /** The promise, as a sentence; no two are alike. */
  readonly name: string
  /** Checks it on a fresh persistence. @throws Error that prints what was expected and what was found. */
  readonly run: () => Promise<void>
}

/** Options of the contract tests. */
export interface ScheduledMessageTestOptions {
  /** Optional parts that the persistence does not have. @default none: it has all */
  readonly without?: readonly OptionalPart[]
}

const topics: Readonly<Record<string, readonly ContractCase[]>> = {
  content: roundTripCases,
  storing: storingCases,
  claiming: claimingCases,
  'order and bounds': claimOrderCases,
  waiting: waitingCases,
  'lease states': leaseStateCases,
  settling: settlingCases,
  releasing: releasingCases,
  'giving up': givingUpCases,
  recalling: recallingCases,
  'recall races': recallRaceCases,
  rescheduling: reschedulingCases,
  'addresses of moved rows': movedAddressCases,
  'rescheduling races': reschedulingRaceCases,
  keys: keyCases,
  inspection: inspectingCases,
  'dead rows': deadRowCases,
  backlog: backlogCases,
  coordination: coordinatingCases,
  pausing: pausingCases,
  histories: historyCases,
}

/**
 * The contract of a persistence that keeps delayed messages, as data: every promise of the port with the check of it, for
 * any test runner. Time is only ever an argument, so nothing waits.
 * @param createPersistence makes a persistence whose store is empty; called once for each test.
 * @example
 * for (const { topic, name, run } of scheduledMessageTests(async () => memoryPersistence())) test(`${topic}: ${name}`, run)
 */
export const scheduledMessageTests = (
  createPersistence: () => Promise<PersistenceUnderTest>,
  options: ScheduledMessageTestOptions = {},
): readonly ScheduledMessageTest[] => {
  const { without = [] } = options
  return Object.entries(topics).flatMap(([topic, cases]) =>
    cases
      .filter(({ needs }) => needs === undefined || !without.includes(needs))
      .map(({ name, check }) => ({
        topic,
        name,
        run: async () => check(createSubject(await createPersistence())),
      })),
  )
}
