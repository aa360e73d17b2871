import { FAULT_KINDS, type FaultKind } from './faults.js'
import { describeFailure } from './report.js'
import { simulate } from './simulate.js'

/** What many seeds showed together. */
export interface SeedsChecked {
  readonly seeds: number
  readonly messages: number
  readonly publishes: number
  readonly virtualMs: number
  /** In how many seeds each kind of fault occurred. */
  readonly occurrences: ReadonlyMap<FaultKind, number>
  /** What went wrong, a text for each seed that did. */
  readonly failures: readonly string[]
}

/** Stop after so many: they are likely to have one cause. */
const MOST_FAILURES = 3

/** Runs seeds one after the other. `onSeed` is told how many are done. */
export const checkSeeds = async (
  from: number,
  count: number,
  onSeed: (done: number, failures: number) => void = () => {},
): Promise<SeedsChecked> => {
  const occurrences = new Map<FaultKind, number>(FAULT_KINDS.map((kind) => [kind, 0]))
  const failures: string[] = []
  const sums = { seeds: 0, messages: 0, publishes: 0, virtualMs: 0 }
  for (let seed = from; seed < from + count && failures.length < MOST_FAILURES; seed++) {
    const result = await simulate({ seed })
    for (const kind of result.faults) occurrences.set(kind, (occurrences.get(kind) ?? 0) + 1)
    sums.seeds++
    sums.messages += result.messages
    sums.publishes += result.publishes
    sums.virtualMs += result.virtualMs
    if (result.violations.length > 0) failures.push(describeFailure(await simulate({ seed, isTraced: true })))
    onSeed(sums.seeds, failures.length)
  }
  return { ...sums, occurrences, failures }
}
