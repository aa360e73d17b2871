import type { PersistenceUnderTest } from '../../lib/testing/scheduled-message-tests.js'

/** Every outcome that the ports for taking back, moving and keys may answer. */
export const OUTCOMES: Readonly<Record<string, readonly string[]>> = {
  recall: ['recalled', 'already-recalled', 'too-late', 'possibly-delivered', 'not-found'],
  reschedule: ['rescheduled', 'possibly-delivered', 'too-late', 'recalled', 'dead', 'not-found'],
  storeUnderKey: ['stored', 'duplicate', 'kept', 'recalled', 'conflict'],
  putBack: ['put-back', 'key-taken', 'not-found'],
  purge: ['true', 'false'],
}

/** Which outcomes were seen, by operation and outcome: on which stores. */
export type SeenOutcomes = Map<string, Set<string>>

/** Watches a persistence: notes each outcome that it answers. */
export const watchOutcomes = (
  persistence: PersistenceUnderTest,
  store: string,
  seen: SeenOutcomes,
): PersistenceUnderTest => {
  const note = (operation: string, outcome: unknown) => {
    const cell = `${operation}: ${outcome}`
    seen.set(cell, (seen.get(cell) ?? new Set()).add(store))
  }
  const noted = async <T>(operation: string, asked: Promise<T>, read: (answer: T) => unknown): Promise<T> => {
    const answer = await asked
    note(operation, read(answer))
    return answer
  }
  const { keys, inspection, rescheduleOutgoingMessage } = persistence
  return {
    ...persistence,
    recallOutgoingMessage: (...asked) =>
      noted('recall', persistence.recallOutgoingMessage(...asked), (outcome) => outcome),
    ...(rescheduleOutgoingMessage !== undefined && {
      rescheduleOutgoingMessage: (...asked: Parameters<typeof rescheduleOutgoingMessage>) =>
        noted('reschedule', rescheduleOutgoingMessage(...asked), ({ outcome }) => outcome),
    }),
    ...(keys !== undefined && {
      keys: {
        ...keys,
        storeUnderKey: (...asked: Parameters<typeof keys.storeUnderKey>) =>
          noted('storeUnderKey', keys.storeUnderKey(...asked), ({ outcome }) => outcome),
      },
    }),
    ...(inspection !== undefined && {
      inspection: {
        ...inspection,
        putBack: (...asked: Parameters<typeof inspection.putBack>) =>
          noted('putBack', inspection.putBack(...asked), ({ outcome }) => outcome),
        purge: (...asked: Parameters<typeof inspection.purge>) =>
          noted('purge', inspection.purge(...asked), (answer) => answer),
      },
    }),
  }
}

/** The outcomes that a store never answered. */
export const missingOutcomes = (stores: readonly string[], seen: SeenOutcomes): readonly string[] =>
  Object.entries(OUTCOMES).flatMap(([operation, outcomes]) =>
    outcomes.flatMap((outcome) =>
      stores
        .filter((store) => !seen.get(`${operation}: ${outcome}`)?.has(store))
        .map((store) => `${operation}: ${outcome} × ${store}`),
    ),
  )
