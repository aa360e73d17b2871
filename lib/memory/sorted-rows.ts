/** What is kept in order: text order is the order. */
export interface Sorted {
  readonly sortKey: string
}

/**
 * Rows in the order of their keys. A pass reads from the front and touches only what is due, however many rows wait behind.
 * No row may be added or removed while the rows are being read.
 */
export interface SortedRows<T extends Sorted> {
  /** How many rows there are. */
  size(): number
  /** The rows, in order. */
  values(): IterableIterator<T>
  find(sortKey: string): T | undefined
  /** Adds a row whose key is not there yet. */
  insert(row: T): void
  /** Removes the row of this key, if there is one. */
  remove(sortKey: string): void
}

/**
 * The most rows of a block. One array of 100,000 rows was measured at 120 µs an insert and 300 µs a removal at its front,
 * since all that follows moves; in blocks of this size both take 3 to 4 µs.
 */
const MOST_ROWS = 512

/** The first position whose item is not before the key. */
const positionIn = <I>(items: readonly I[], isBefore: (item: I) => boolean): number => {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const item = items[middle]
    if (item !== undefined && isBefore(item)) low = middle + 1
    else high = middle
  }
  return low
}

/** Makes an empty set of rows. */
export const createSortedRows = <T extends Sorted>(): SortedRows<T> => {
  /** None of them is empty. */
  const blocks: T[][] = []
  let size = 0

  /** The block in which the key is, if it is anywhere: the first that does not end before it. */
  const blockOf = (sortKey: string): number =>
    positionIn(blocks, (block) => {
      const last = block.at(-1)
      return last !== undefined && last.sortKey < sortKey
    })
  const rowIn = (block: readonly T[], sortKey: string): number => positionIn(block, (row) => row.sortKey < sortKey)

  return {
    size: () => size,
    *values() {
      for (const block of blocks) yield* block
    },
    find: (sortKey) => {
      const block = blocks[blockOf(sortKey)]
      const row = block?.[rowIn(block, sortKey)]
      return row?.sortKey === sortKey ? row : undefined
    },
    insert: (row) => {
      size++
      // A row behind all others goes into the last block.
      const index = Math.min(blockOf(row.sortKey), blocks.length - 1)
      const block = blocks[index]
      if (block === undefined) {
        blocks.push([row])
        return
      }
      block.splice(rowIn(block, row.sortKey), 0, row)
      if (block.length > MOST_ROWS) blocks.splice(index + 1, 0, block.splice(MOST_ROWS / 2))
    },
    remove: (sortKey) => {
      const index = blockOf(sortKey)
      const block = blocks[index]
      if (block === undefined) return
      const position = rowIn(block, sortKey)
      if (block[position]?.sortKey !== sortKey) return
      size--
      block.splice(position, 1)
      if (block.length === 0) blocks.splice(index, 1)
    },
  }
}
