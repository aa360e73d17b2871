import type { WorkerLease } from '../core/persistence.js'
import type { Item } from './table.js'

const readInteger = (item: Item, name: string): number | undefined => {
  const value = Number(item[name]?.N ?? Number.NaN)
  return Number.isSafeInteger(value) ? value : undefined
}

/** How many shards dispatchers read, as the control item says; `undefined` if it says nothing. */
export const readReadShards = (item: Item): number | undefined => readInteger(item, 'readShards')

/** Writes a worker lease as attributes. */
export const toWorkerItem = ({ owner, epoch, leaseUntil, stopsAt }: WorkerLease): Item => ({
  owner: { S: owner },
  epoch: { N: String(epoch) },
  leaseUntil: { N: String(leaseUntil) },
  stopsAt: { N: String(stopsAt) },
})

/** Reads a worker lease. What is missing reads as the earliest, so that a damaged lease is one that has ended. */
export const readWorkerLease = (item: Item): WorkerLease => ({
  owner: item.owner?.S ?? '',
  epoch: readInteger(item, 'epoch') ?? 0,
  leaseUntil: readInteger(item, 'leaseUntil') ?? 0,
  stopsAt: readInteger(item, 'stopsAt') ?? 0,
})
