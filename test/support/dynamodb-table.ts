import { createRequire } from 'node:module'
import { DynamoDBClient, type DynamoDBClientConfig, ScanCommand } from '@aws-sdk/client-dynamodb'
import { createTable } from '../../lib/dynamodb/create-table.js'
import type { Item } from '../../lib/dynamodb/table.js'
import { type DynamoDbEmulator, startDynamoDb } from '../../lib/local/emulators/dynamodb.js'
import { startMoto } from './moto.js'

/** The emulators of DynamoDB that tests run on. */
export type DynamoDbKind = 'dynoxide' | 'dynalite' | 'moto'

const require = createRequire(import.meta.url)

/** Why dynoxide (a binary) can't run on this machine; `undefined` when it can. */
export const whyNoDynoxide = (): string | undefined => {
  try {
    require.resolve(`@dynoxide/${process.platform}-${process.arch}/package.json`)
    return undefined
  } catch {
    return `dynoxide has no binary for ${process.platform} ${process.arch}`
  }
}

const start = async (
  kind: DynamoDbKind | undefined,
): Promise<Pick<DynamoDbEmulator, 'endpoint' | 'batching' | 'stop'>> =>
  kind === 'moto' ? { ...(await startMoto()), batching: 'single' } : startDynamoDb(kind)

/** A DynamoDB on this machine, on which tests make tables. */
export interface TestDynamoDb {
  readonly endpoint: string
  /** The fastest mode that it knows. */
  readonly batching: 'partiql' | 'single'
  /** A client of its own, so that a test may put middleware into it. */
  client(config?: DynamoDBClientConfig): DynamoDBClient
  /** Makes an empty table; answers its name. */
  table(): Promise<string>
  stop(): Promise<void>
}

let tables = 0

/** A client for an endpoint of this machine. */
export const clientOf = (endpoint: string, config: DynamoDBClientConfig = {}): DynamoDBClient =>
  new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    ...config,
  })

/** Starts an emulator: the one asked for, or dynoxide where there is one and else dynalite. */
export const startTestDynamoDb = async (kind?: DynamoDbKind): Promise<TestDynamoDb> => {
  const emulator = await start(kind)
  const clients: DynamoDBClient[] = []
  const client = (config?: DynamoDBClientConfig) => {
    const made = clientOf(emulator.endpoint, config)
    clients.push(made)
    return made
  }
  const owner = client()
  return {
    endpoint: emulator.endpoint,
    batching: emulator.batching,
    client,
    table: async () => {
      const name = `table-${++tables}`
      await createTable(owner, name)
      return name
    },
    stop: async () => {
      for (const one of clients) one.destroy()
      await emulator.stop()
    },
  }
}

/** All items of a table whose partition key begins so, in no order that counts. */
export const readAll = async (client: DynamoDBClient, tableName: string, prefix = ''): Promise<Item[]> => {
  const items: Item[] = []
  let after: Item | undefined
  do {
    const answer = await client.send(
      new ScanCommand({
        TableName: tableName,
        ConsistentRead: true,
        ...(after !== undefined && { ExclusiveStartKey: after }),
      }),
    )
    items.push(...(answer.Items ?? []))
    after = answer.LastEvaluatedKey
  } while (after !== undefined)
  return items.filter(({ pk }) => pk?.S?.startsWith(prefix))
}
