import type { DelayingPersistence, Inspection } from '../../lib/core/persistence.js'
import { dynamoDbPersistence } from '../../lib/dynamodb/persistence.js'
import type { Batching } from '../../lib/dynamodb/table.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { type DynamoDbKind, startTestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { whyNoMoto } from '../support/moto.js'

/** A running store of the contract tests. */
export interface RunningStore {
  /** Makes a persistence whose store is empty: a new table, say. Called once for each test. */
  create(): Promise<DelayingPersistence & { readonly inspection?: Inspection }>
  /** Ends what the store runs on. */
  stop(): Promise<void>
}

/** A store, in one of its modes, that has to keep the contract. */
export interface ContractStore {
  readonly name: string
  /** Why it can't run on this machine; `undefined` when it can. Only those in `mayBeAbsent` may have a reason. */
  readonly unavailable: () => string | undefined
  readonly start: () => Promise<RunningStore>
}

const onDynamoDb = (kind: DynamoDbKind, batching: Batching, unavailable: () => string | undefined): ContractStore => ({
  name: `${kind} ${batching}`,
  unavailable,
  start: async () => {
    const emulator = await startTestDynamoDb(kind)
    const client = emulator.client()
    return {
      create: async () => dynamoDbPersistence({ tableName: await emulator.table(), client, batching }),
      stop: emulator.stop,
    }
  },
})

/** Every store and mode that has to keep the contract. */
export const contractStores: readonly ContractStore[] = [
  {
    name: 'memory',
    unavailable: () => undefined,
    start: async () => ({ create: async () => memoryPersistence(), stop: async () => {} }),
  },
  onDynamoDb('dynoxide', 'partiql', whyNoDynoxide),
  onDynamoDb('dynoxide', 'single', whyNoDynoxide),
  onDynamoDb('dynalite', 'single', () => undefined),
  // Its PartiQL answers success to an UPDATE whose condition is false: `single` only.
  onDynamoDb('moto', 'single', whyNoMoto),
]

/** Dynoxide is a binary for some platforms, moto a Python program: the contract still runs on the others without them. */
export const mayBeAbsent = (store: ContractStore): boolean => /^(dynoxide|moto) /.test(store.name)
