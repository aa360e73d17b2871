import type { PutItemCommandInput } from '@aws-sdk/client-dynamodb'
import type { PauseState, WorkerLease } from '../core/persistence.js'
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

const readNumber = (item: Item, name: string): number | undefined =>
  item[name]?.N === undefined ? undefined : Number(item[name].N)

/** Reads a worker lease; `undefined` if the item is not whole, which is as good as none. */
export const readWorkerLease = (item: Item): WorkerLease | undefined => {
  const owner = item.owner?.S
  // Any number will do: the condition of `isStill` has to hold for just what is read here, or nobody could take over.
  const epoch = readNumber(item, 'epoch')
  const leaseUntil = readNumber(item, 'leaseUntil')
  const stopsAt = readNumber(item, 'stopsAt')
  if (owner === undefined || epoch === undefined || leaseUntil === undefined || stopsAt === undefined) return undefined
  return { owner, epoch, leaseUntil, stopsAt }
}

/** Names of attributes go by aliases: OWNER is a reserved word. */
const ALIASES = { '#o': 'owner', '#e': 'epoch', '#l': 'leaseUntil', '#s': 'stopsAt' }
const TYPES = { '#o': ':text', '#e': ':number', '#l': ':number', '#s': ':number' }
const IS_NOT_WHOLE = Object.entries(TYPES)
  .map(([name, type]) => `NOT attribute_type(${name}, ${type})`)
  .join(' OR ')

/** The condition that the worker lease is still the one that was seen. */
export const isStill = (
  seen: WorkerLease | undefined,
): Pick<PutItemCommandInput, 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'> =>
  seen === undefined
    ? {
        ConditionExpression: IS_NOT_WHOLE,
        ExpressionAttributeNames: ALIASES,
        ExpressionAttributeValues: { ':text': { S: 'S' }, ':number': { S: 'N' } },
      }
    : {
        ConditionExpression: '#o = :o AND #e = :e AND #l = :l AND #s = :s',
        ExpressionAttributeNames: ALIASES,
        ExpressionAttributeValues: {
          ':o': { S: seen.owner },
          ':e': { N: String(seen.epoch) },
          ':l': { N: String(seen.leaseUntil) },
          ':s': { N: String(seen.stopsAt) },
        },
      }

/** Writes whether dispatching is paused. */
export const toPauseItem = ({ paused, version }: PauseState): Item => ({
  paused: { BOOL: paused },
  version: { N: String(version) },
})

/** Reads whether dispatching is paused; it is not where nothing was ever set. */
export const readPauseState = (item: Item | undefined): PauseState => ({
  paused: item?.paused?.BOOL ?? false,
  version: (item === undefined ? undefined : readInteger(item, 'version')) ?? 0,
})
