import type { PostdateError } from '../core/errors.js'
import { dynamoDbLimits } from '../wiring/limits.js'
import type { Operation } from './failures.js'
import { type ItemKey, keyText } from './keys.js'
import { runBounded } from './run-bounded.js'
import type { Item, Table } from './table.js'
import { sendStatements } from './write-by-statements.js'
import { sendSingle } from './write-singly.js'

/** A conditional write of one item. */
export type Write =
  /** Creates the item, if there is none of its key. */
  | { readonly write: 'insert'; readonly key: ItemKey; readonly item: Item; readonly bytes: number }
  /** Swaps the register, if it is still the one that was seen. */
  | { readonly write: 'swap'; readonly key: ItemKey; readonly seen: string; readonly next: string }
  /** Removes the item, if its register is still the one that was seen. */
  | { readonly write: 'delete'; readonly key: ItemKey; readonly seen: string }

/** What became of a write. */
export type WriteResult =
  | { readonly result: 'done' }
  /**
   * The condition was false, or the answer does not prove that it was true: look the item up. `mayBeMine`: an earlier
   * attempt of this very write may have been applied.
   */
  | { readonly result: 'refused'; readonly mayBeMine: boolean }
  /** Throttled, or broken off by the service: to be tried again. */
  | { readonly result: 'passing'; readonly mayBeMine: boolean; readonly error: PostdateError }
  | { readonly result: 'failed'; readonly applied: 'no' | 'unknown'; readonly error: PostdateError }

/** A write's result once nothing is left to be tried again. */
export type FinalResult = Exclude<WriteResult, { result: 'passing' }>

/** Requests on their way at once; the SDK's agent has 50 sockets. */
const MOST_REQUESTS = { partiql: 8, single: 32 } as const

/** The most bytes of items in one request, so that none comes near the service's limit or the request's time-out. */
const MOST_REQUEST_BYTES = 2 * 1024 * 1024

/** The first wait before a throttled write is tried again; each further one is twice as long. Jitter takes up to half. */
const FIRST_WAIT_MS = 50
const MOST_RETRIES = 5

/** Writes in an order in which those of one key come in different groups: AWS refuses a batch that names an item twice. */
const splitByKey = (writes: readonly Write[]): number[][] => {
  const groups: number[][] = []
  const timesSeen = new Map<string, number>()
  for (const [index, write] of writes.entries()) {
    const key = keyText(write.key)
    const times = timesSeen.get(key) ?? 0
    timesSeen.set(key, times + 1)
    groups[times] ??= []
    groups[times]?.push(index)
  }
  return groups
}

const splitBySize = (writes: readonly Write[], indexes: readonly number[], most: number): number[][] => {
  const batches: number[][] = []
  let batch: number[] = []
  let bytes = 0
  for (const index of indexes) {
    const write = writes[index]
    const size = write?.write === 'insert' ? write.bytes : 0
    if (batch.length === most || (batch.length > 0 && bytes + size > MOST_REQUEST_BYTES)) {
      batches.push(batch)
      batch = []
      bytes = 0
    }
    batch.push(index)
    bytes += size
  }
  if (batch.length > 0) batches.push(batch)
  return batches
}

const send = (table: Table, operation: Operation, writes: readonly Write[]): Promise<readonly WriteResult[]> =>
  table.batching === 'partiql' ? sendStatements(table, operation, writes) : sendSingle(table, operation, writes)

const retry = async (
  table: Table,
  operation: Operation,
  write: Write,
  first: Extract<WriteResult, { result: 'passing' }>,
): Promise<FinalResult> => {
  let last = first
  let mayBeMine = first.mayBeMine
  for (let tried = 0; tried < MOST_RETRIES; tried++) {
    await table.wait(FIRST_WAIT_MS * 2 ** tried * (0.5 + Math.random() / 2))
    const [result] = await send(table, operation, [write])
    if (result === undefined) break
    if (result.result === 'refused') return { ...result, mayBeMine: result.mayBeMine || mayBeMine }
    if (result.result === 'failed') return mayBeMine ? { ...result, applied: 'unknown' } : result
    if (result.result === 'done') return result
    last = result
    mayBeMine ||= result.mayBeMine
  }
  return { result: 'failed', applied: mayBeMine ? 'unknown' : 'no', error: last.error }
}

/**
 * Makes conditional writes, each on its own: one that is refused or fails harms no other. Throttled ones are tried again one
 * by one. Writes of one key are made one after the other, in order. One result per write, in order; never throws.
 */
export const writeItems = async (
  table: Table,
  operation: Operation,
  writes: readonly Write[],
): Promise<readonly FinalResult[]> => {
  const results: WriteResult[] = new Array(writes.length)
  const most = table.batching === 'partiql' ? dynamoDbLimits.maxBatchStatements : 1
  const lanes = MOST_REQUESTS[table.batching]
  for (const group of splitByKey(writes)) {
    await runBounded(splitBySize(writes, group, most), lanes, async (indexes) => {
      const batch = indexes.flatMap((index) => writes[index] ?? [])
      const answers = await send(table, operation, batch)
      for (const [position, index] of indexes.entries()) {
        const answer = answers[position]
        if (answer !== undefined) results[index] = answer
      }
    })
    await runBounded(group, lanes, async (index) => {
      const [write, result] = [writes[index], results[index]]
      if (write !== undefined && result?.result === 'passing')
        results[index] = await retry(table, operation, write, result)
    })
  }
  return results as FinalResult[]
}
