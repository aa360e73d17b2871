import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type Clock, sleepUntil, systemClock } from '../core/clock.js'
import { PostdateError } from '../core/errors.js'
import { type Ids, randomIds } from '../core/ids.js'
import { consoleLogger, type Logger } from '../core/observation.js'
import type {
  ClaimRequest,
  ClaimResult,
  Coordination,
  DelayingPersistence,
  Inspection,
  Persistence,
  ShardCounts,
} from '../core/persistence.js'
import { claimDue } from './claim-due.js'
import { createDynamoDbClient } from './client.js'
import { createCoordination, DEFAULT_SHARDS } from './coordinate.js'
import { listDead } from './list-dead.js'
import { estimateRows, listRows } from './list-rows.js'
import { measureBacklog } from './measure-backlog.js'
import { peekRow } from './peek-row.js'
import { purgeRow, putBackRow } from './put-back.js'
import { recallMessage } from './recall-message.js'
import { releaseClaims } from './release-claims.js'
import { rescheduleMessage } from './reschedule-message.js'
import { settleClaims } from './settle-claims.js'
import { createShardChoice } from './shard-choice.js'
import { storeMessages } from './store-messages.js'
import { findKey, storeUnderKey } from './store-under-key.js'
import type { Batching, Table } from './table.js'

/** Options of the persistence in DynamoDB. */
export interface DynamoDbPersistenceOptions {
  /** The table's name; not an ARN, which PartiQL does not take. */
  readonly tableName: string
  /** @default a client of the environment's region and credentials, with 3 attempts of 5 s each */
  readonly client?: DynamoDBClient
  /** How rows are written; `single` is for stores without PartiQL, and takes some 15 times the CPU. @default 'partiql' */
  readonly batching?: Batching
  /**
   * How many slices senders spread the rows over; an integer from 1. Above 8 it takes effect once a dispatcher with the same
   * option has run. @default 8
   */
  readonly writeShards?: number
  /** Where the tokens of lease registers come from. @default random ones */
  readonly ids?: Ids
  /** Judges how old the cached shard counts are, and times retries. @default the machine's */
  readonly clock?: Clock
  /** Waits so many milliseconds before a throttled write is tried again. @default by the clock */
  readonly wait?: (ms: number) => Promise<void>
  /** Told of what could not be done now and is left to a later pass. @default the console */
  readonly logger?: Logger
}

/** A persistence in DynamoDB. */
export type DynamoDbPersistence = DelayingPersistence &
  Required<Pick<Persistence, 'rescheduleOutgoingMessage' | 'keys'>> & {
    readonly durable: true
    readonly maxEnvelopeBytes: number
    readonly coordination: Coordination
    readonly inspection: Inspection
  }

/** The largest stored envelope: an item is 400 KB at most, and the row that becomes a dead one needs some of that. */
const MAX_ENVELOPE_BYTES = 390 * 1024

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html */
const TABLE_NAME = /^[\w.-]{3,255}$/

const check = ({ tableName, batching, writeShards }: DynamoDbPersistenceOptions): void => {
  const refuse = (option: string, value: unknown, rule: string) =>
    new PostdateError('options.invalid', { option, value: String(value), rule })
  if (typeof tableName !== 'string' || !TABLE_NAME.test(tableName))
    throw refuse('tableName', tableName, 'a table name is 3 to 255 letters, digits and _ . -')
  if (batching !== undefined && batching !== 'partiql' && batching !== 'single')
    throw refuse('batching', batching, "it is 'partiql' or 'single'")
  // What is once read is read for ever: a slip of the hand would cost a query a minute for each shard, and never end.
  if (writeShards !== undefined && !(Number.isSafeInteger(writeShards) && writeShards >= 1 && writeShards <= 1_000))
    throw refuse('writeShards', writeShards, 'it is an integer from 1 to 1,000')
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, shard) => shard)

/**
 * Keeps delayed messages in a DynamoDB table, which `DelayedDelivery` of the constructs creates.
 * @throws PostdateError `options.invalid`
 * @example
 * const bus = createBus({ name: 'orders', transport: snsTransport({ topicArn }), persistence: dynamoDbPersistence({ tableName }) })
 */
export const dynamoDbPersistence = (options: DynamoDbPersistenceOptions): DynamoDbPersistence => {
  check(options)
  const {
    tableName,
    batching = 'partiql',
    writeShards = DEFAULT_SHARDS,
    ids = randomIds,
    clock = systemClock,
  } = options
  const table: Table = {
    client: options.client ?? createDynamoDbClient(),
    tableName,
    name: `dynamodb:${tableName}`,
    batching,
    newToken: ids.token,
    wait: options.wait ?? ((ms) => sleepUntil(clock, clock.now() + ms)),
    logger: options.logger ?? consoleLogger,
  }
  const coordination = createCoordination(table, writeShards, clock)
  const choice = createShardChoice()
  const allShards = async () => upTo((await coordination.readShards()).read)
  // Up to the default nothing has to be written: that many are read without being told.
  let grown = writeShards <= DEFAULT_SHARDS

  /**
   * The counts for a pass. Who dispatches sees to it that what its senders are configured to write is read, before any of
   * them writes there.
   */
  const countsOfPass = async (): Promise<ShardCounts> => {
    if (grown) return coordination.readShards()
    try {
      const counts = await coordination.growShards(writeShards)
      grown = true
      return counts
    } catch (error) {
      // Senders go on with the count that is known to be read, so nothing is lost; the next pass tries again.
      table.logger.warn('the count of shards could not be raised', { writeShards, error: String(error) })
      return coordination.readShards()
    }
  }

  const claimDueOutgoingMessages = async (request: ClaimRequest): Promise<ClaimResult> => {
    const { shards, skippedNextDueAt } =
      request.shards === undefined
        ? choice.choose(await countsOfPass(), request)
        : { shards: [...new Set(request.shards)], skippedNextDueAt: undefined }
    for (const shard of shards) choice.forget(shard)
    const { quiet, busy, ...result } = await claimDue(table, request, choice.rotate(shards), choice.busy(shards))
    choice.remember(request.now, quiet, busy)
    if (skippedNextDueAt === undefined) return result
    return { ...result, nextDueAt: Math.min(result.nextDueAt ?? skippedNextDueAt, skippedNextDueAt) }
  }

  return {
    name: table.name,
    durable: true,
    maxEnvelopeBytes: MAX_ENVELOPE_BYTES,
    coordination,
    inspection: {
      list: async (request) => listRows(table, await allShards(), request),
      estimate: async (window) => estimateRows(table, await allShards(), window),
      peek: (address, now) => peekRow(table, address, now),
      listDead: async (limit) => listDead(table, await allShards(), limit),
      putBack: (address, dueAt, now) => putBackRow(table, address, dueAt, now),
      purge: (address) => purgeRow(table, address),
    },
    keys: {
      storeUnderKey: (message, ifScheduled, now) => storeUnderKey(table, message, ifScheduled, now),
      findKey: (key) => findKey(table, key),
    },
    storeOutgoingMessages: (messages) => storeMessages(table, messages),
    claimDueOutgoingMessages,
    deleteOutgoingMessages: (claims) => settleClaims(table, claims),
    releaseOutgoingMessages: (releases) => {
      for (const { claim } of releases) choice.forget(claim.shard)
      return releaseClaims(table, releases)
    },
    recallOutgoingMessage: (address, now) => recallMessage(table, address, now),
    rescheduleOutgoingMessage: (address, dueAt, now) => rescheduleMessage(table, address, dueAt, now),
    measureBacklog: async (now) => measureBacklog(table, await allShards(), now),
  }
}
