import type { Operation } from './failures.js'
import type { ItemKey } from './keys.js'
import type { Table } from './table.js'
import { type Write, writeItems } from './write-items.js'

const writeOne = async (table: Table, operation: Operation, write: Write): Promise<boolean> => {
  const [result] = await writeItems(table, operation, [write])
  if (result?.result === 'failed') throw result.error
  return result?.result === 'done'
}

/**
 * Swaps an item's register, if it is still the one that was seen. `false`: it is not, or an earlier attempt of this very
 * write has swapped it; a look tells.
 * @throws PostdateError `persistence.unavailable`, `.access-denied`, `.misconfigured`
 */
export const swapRegister = (
  table: Table,
  operation: Operation,
  key: ItemKey,
  seen: string,
  next: string,
): Promise<boolean> => writeOne(table, operation, { write: 'swap', key, seen, next })

/**
 * Removes an item, if its register is still the one that was seen. `false`: it is not, or there is no such item.
 * @throws PostdateError `persistence.unavailable`, `.access-denied`, `.misconfigured`
 */
export const removeItem = (table: Table, operation: Operation, key: ItemKey, seen: string): Promise<boolean> =>
  writeOne(table, operation, { write: 'delete', key, seen })
