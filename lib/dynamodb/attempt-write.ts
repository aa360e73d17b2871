import { isRefused, mayHaveApplied, type Operation, toStoreError, wasRepeated } from './failures.js'
import type { Table } from './table.js'

/**
 * Makes a conditional write. After a refusal of a request that was sent more than once, and after a lost answer, `isMade`
 * tells, by a look, whether it was made all the same.
 * @throws PostdateError `persistence.unavailable` (made or not), `.access-denied`, `.misconfigured`
 */
export const attemptWrite = async (
  table: Table,
  operation: Operation,
  send: () => Promise<unknown>,
  isMade: () => Promise<boolean>,
): Promise<'made' | 'refused'> => {
  try {
    await send()
    return 'made'
  } catch (error) {
    const mayBeMine = isRefused(error) ? wasRepeated(error) : mayHaveApplied(error)
    if (mayBeMine && (await isMade())) return 'made'
    if (isRefused(error)) return 'refused'
    throw toStoreError(table, operation, error)
  }
}

/** Makes a conditional write that whoever comes later repeats: refused, another has made it. @throws what the SDK throws */
export const attemptOnce = async (send: () => Promise<unknown>): Promise<void> => {
  try {
    await send()
  } catch (error) {
    if (!isRefused(error)) throw error
  }
}
