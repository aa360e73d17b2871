import type { RowAddress } from '../../core/persistence.js'
import { expectEqual } from './expectation.js'
import { DUE_AT, sampleMessage } from './message-samples.js'
import { type ContractCase, promiseOf, type Subject } from './subject.js'

/** The message that is moved, and instants before, at and after the one at which it is due. */
export const message = sampleMessage({ id: 'one' })
/** When it is moved, unless a test says otherwise. */
export const BEFORE = DUE_AT - 60_000
/** An hour after its due instant. */
export const LATER = DUE_AT + 3_600_000
/** Half a minute before it. */
export const SOONER = DUE_AT - 30_000

/** A promise of persistences that reschedule. */
export const promise = (name: string, check: ContractCase['check']): ContractCase =>
  promiseOf('reschedule', name, check)

/** Moves a row, which must succeed; answers where it is now. */
export const move = async (subject: Subject, address: RowAddress, dueAt: number, now = BEFORE): Promise<RowAddress> => {
  const result = await subject.reschedule(address, dueAt, now)
  if (!('address' in result)) throw new Error(`expected a move to ${dueAt}\nfound: ${result.outcome}`)
  return result.address
}

/** The one claim at an instant, which must not be there a millisecond before. */
export const claimExactlyAt = async (subject: Subject, at: number) => {
  expectEqual('claimable one millisecond before', await subject.claimIds(at - 1), [])
  return subject.claimOne(at)
}
