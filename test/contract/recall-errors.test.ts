import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assembleBus } from '../../lib/core/bus.js'
import { PostdateError } from '../../lib/core/errors.js'
import { formatHandle } from '../../lib/core/handle.js'
import { silentLogger } from '../../lib/core/observation.js'
import type { DelayingPersistence } from '../../lib/core/persistence.js'
import type { BusOptions } from '../../lib/core/settings.js'
import { dynamoDbPersistence } from '../../lib/dynamodb/persistence.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { memoryTransport } from '../../lib/memory/transport.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'
import { RemindPayment, refusalOf } from '../core/bus-stage.js'
import { sdkError, watchClient } from '../dynamodb/client-watch.js'
import { type DynamoDbKind, startTestDynamoDb, type TestDynamoDb } from '../support/dynamodb-table.js'
import { contractStores } from './stores.js'

const HOUR_MS = 3_600_000

/** A store on which a test may let everything fail. */
interface FailingStore {
  readonly persistence: DelayingPersistence
  /** From now on every call fails in this way. */
  failBy(how: 'access-denied' | 'unavailable'): void
}

const SDK_ERRORS = {
  'access-denied': () => sdkError('AccessDeniedException', 'not authorized to perform dynamodb:UpdateItem'),
  unavailable: () => sdkError('ThrottlingException', 'rate exceeded'),
} as const

const inMemory = (): FailingStore => {
  const persistence = memoryPersistence()
  return {
    persistence,
    // Memory can't fail; a persistence that can raises these.
    failBy: (how) =>
      Object.assign(persistence, {
        recallOutgoingMessage: async () => {
          const details = { persistence: 'memory', operation: 'recall a message', reason: how }
          throw new PostdateError(`persistence.${how}`, details)
        },
      }),
  }
}

const onDynamoDb = async (emulator: TestDynamoDb, batching: 'partiql' | 'single'): Promise<FailingStore> => {
  const client = emulator.client()
  let failing: keyof typeof SDK_ERRORS | undefined
  watchClient(client, () => (failing === undefined ? undefined : { refuse: SDK_ERRORS[failing]() }))
  const persistence = dynamoDbPersistence({
    tableName: await emulator.table(),
    client,
    batching,
    logger: silentLogger,
    wait: async () => {},
  })
  return {
    persistence,
    failBy: (how) => {
      failing = how
    },
  }
}

const present = contractStores.filter((store) => store.unavailable() === undefined)

/** Error by store: what was raised. An empty cell is an error that nobody saw. */
const raised = new Map<string, Set<string>>()
const CODES = [
  ...['recall.malformed-handle', 'recall.other-bus', 'recall.switched-off', 'recall.window-closed'],
  ...['persistence.recall-not-supported', 'persistence.access-denied', 'persistence.unavailable'],
]

describe.each(present)('errors of a recall on $name', ({ name }) => {
  let emulator: TestDynamoDb | undefined
  const [kind, batching = 'single'] = name.split(' ') as [DynamoDbKind | 'memory', 'partiql' | 'single' | undefined]
  beforeAll(async () => {
    if (kind !== 'memory') emulator = await startTestDynamoDb(kind)
  })
  afterAll(() => emulator?.stop())

  const begin = async (options: Partial<BusOptions> = {}) => {
    const store = emulator === undefined ? inMemory() : await onDynamoDb(emulator, batching)
    const clock = createVirtualClock()
    const fixed = { name: 'orders', transport: memoryTransport({ clock }), clock, logger: silentLogger }
    const bus = assembleBus({ ...fixed, persistence: store.persistence, ...options })
    const receipt = await bus.send(RemindPayment({ orderId: '1' }), { deliverAfter: HOUR_MS })
    return { ...store, bus, clock, fixed, handle: receipt.recallHandle ?? '' }
  }

  const expectCode = async (work: Promise<unknown>, code: string, more: object = {}) => {
    expect(await refusalOf(work)).toMatchObject({ code, ...more })
    raised.set(code, (raised.get(code) ?? new Set()).add(name))
  }

  test('an edited or malformed handle', async () => {
    const { bus, handle } = await begin()
    for (const one of ['', 'pd1_', handle.slice(0, -2), `${handle.slice(0, 20)}A${handle.slice(21)}x`, undefined, 5])
      await expectCode(bus.recall(one as string), 'recall.malformed-handle', { retryable: false })
    const copy = formatHandle({ bus: 'orders', shard: 0, dueAt: 5, rowId: 'x~billing~2' })
    await expectCode(bus.recall(copy), 'recall.malformed-handle')
  })

  test('a handle of another bus', async () => {
    const { fixed, persistence, handle } = await begin()
    const other = assembleBus({ ...fixed, name: 'invoices', persistence })
    await expectCode(other.recall(handle), 'recall.other-bus', { details: { bus: 'invoices', handleBus: 'orders' } })
  })

  test('recall switched off, or closed', async () => {
    const off = await begin({ recall: false })
    await expectCode(off.bus.recall(off.handle), 'recall.switched-off')
    const closed = await begin({ recall: { closesBeforeDue: { minutes: 5 } } })
    await closed.clock.advanceBy(HOUR_MS - 299_999)
    await expectCode(closed.bus.recall(closed.handle), 'recall.window-closed')
  })

  test('a persistence without recall', async () => {
    const { fixed, persistence, handle } = await begin()
    const { recallOutgoingMessage: _, ...rest } = persistence
    const bus = assembleBus({ ...fixed, persistence: rest })
    await expectCode(bus.recall(handle), 'persistence.recall-not-supported', { retryable: false })
  })

  test('a missing permission', async () => {
    const { bus, handle, failBy } = await begin()
    failBy('access-denied')
    await expectCode(bus.recall(handle), 'persistence.access-denied', { retryable: false })
  })

  test('a store that can’t answer now, which says nothing of the message', async () => {
    const { bus, handle, failBy } = await begin()
    failBy('unavailable')
    await expectCode(bus.recall(handle), 'persistence.unavailable', { retryable: true })
  })
})

test('every error of a recall was raised on every store that is present', () => {
  const missing = CODES.flatMap((code) =>
    present.filter(({ name }) => !raised.get(code)?.has(name)).map(({ name }) => `${code} × ${name}`),
  )
  expect(missing).toEqual([])
})
