import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { PostdateError } from '../core/errors.js'
import type { Inbox } from '../core/redelivery/inbox.js'
import { type Duration, durationMs } from '../core/schedule.js'
import { createDynamoDbClient } from '../dynamodb/client.js'
import { tableSchema } from '../wiring/table.js'

/** Where an inbox remembers what was handled. */
export interface PowertoolsInboxOptions {
  /** The bus's table, or another with the same keys and the same attribute for TTL. */
  readonly tableName: string
  /** @default a client of the environment's region and credentials, with 3 attempts of 5 s each */
  readonly client?: DynamoDBClient
  /** How long a handled message is remembered, from a second; it must exceed the longest wait of the receiver's redelivery. @default 1 day */
  readonly retention?: Duration
}

const DAY_MS = 86_400_000
/** Where no time-out is known, as outside of Lambda, a process that died blocks its messages for so long. */
const IN_PROGRESS_MS = 300_000
const PREFIX = 'inbox'

/** Loaded only here: receivers without an inbox do without it. */
const loadPowertools = async () => {
  try {
    // Each awaited by itself: so bundlers know that it may be missing, and a bundle without an inbox needs no Powertools.
    const { IdempotencyConfig, makeIdempotent } = await import('@aws-lambda-powertools/idempotency')
    const { DynamoDBPersistenceLayer } = await import('@aws-lambda-powertools/idempotency/dynamodb')
    return { IdempotencyConfig, makeIdempotent, DynamoDBPersistenceLayer }
  } catch (error) {
    const rule = 'it needs the packages @aws-lambda-powertools/idempotency and @aws-sdk/lib-dynamodb'
    throw new PostdateError('options.invalid', { option: 'inbox', value: 'powertoolsInbox', rule }, error)
  }
}

/** Known by its name, since the package may be loaded twice. */
const isInProgress = (error: unknown): boolean =>
  error instanceof Error && error.name === 'IdempotencyAlreadyInProgressError'

/**
 * An inbox on Powertools for AWS Lambda: its idempotency utility, on DynamoDB. Each message takes two write units more, and
 * an item that leaves by TTL. The items are in partitions of their own, `inbox#…`, one for each key, so none is hot.
 *
 * Needs the packages `@aws-lambda-powertools/idempotency` and `@aws-sdk/lib-dynamodb`, and the permissions
 * `dynamodb:GetItem`, `PutItem`, `UpdateItem` and `DeleteItem` on keys that begin with `inbox#`.
 * @throws PostdateError `options.invalid`, `schedule.invalid-duration`
 * @see https://docs.aws.amazon.com/powertools/typescript/latest/features/idempotency/
 * @example
 * export const handler = createReceiver(bus, handlers, { name: 'billing', inbox: powertoolsInbox({ tableName }) })
 */
export const powertoolsInbox = (options: PowertoolsInboxOptions): Inbox => {
  const { tableName, client = createDynamoDbClient() } = options
  const retentionMs = durationMs('retention', options.retention ?? DAY_MS)
  if (retentionMs < 1_000)
    throw new PostdateError('options.invalid', {
      option: 'retention',
      value: `${retentionMs} ms`,
      rule: 'it must be a second or more',
    })
  let loading: ReturnType<typeof loadPowertools> | undefined

  return {
    name: `powertools:${tableName}`,
    retentionMs,
    once: async (key, work, runningForMs) => {
      loading ??= loadPowertools()
      const { IdempotencyConfig, makeIdempotent, DynamoDBPersistenceLayer } = await loading
      const persistenceStore = new DynamoDBPersistenceLayer({
        tableName,
        awsSdkV3Client: client,
        keyAttr: tableSchema.partitionKey,
        sortKeyAttr: tableSchema.sortKey,
        expiryAttr: tableSchema.timeToLive,
        // Cut, since a key has 2,048 bytes at most; the sort key is a hash of all of it.
        staticPkValue: `${PREFIX}#${key.slice(0, 500)}`,
      })
      const config = new IdempotencyConfig({
        expiresAfterSeconds: Math.ceil(retentionMs / 1_000),
        hashFunction: 'sha256',
      })
      // 0 would mean that the time is not known, and a process that died would block the message for the whole retention.
      const remainingMs = Math.max(1, Math.ceil(runningForMs ?? IN_PROGRESS_MS))
      let hasRun = false
      const idempotent = makeIdempotent(
        async (_key: string, _context: object) => {
          const result = await work()
          hasRun = true
          return result
        },
        { persistenceStore, config, keyPrefix: PREFIX },
      )
      try {
        const result = await idempotent(key, { getRemainingTimeInMillis: () => remainingMs })
        return { state: hasRun ? 'ran' : 'remembered', result }
      } catch (error) {
        if (isInProgress(error)) return { state: 'in-progress' }
        throw error
      }
    },
  }
}
