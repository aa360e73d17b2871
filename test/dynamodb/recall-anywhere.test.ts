import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assembleBus } from '../../lib/core/bus.js'
import { parseHandle } from '../../lib/core/handle.js'
import { silentLogger } from '../../lib/core/observation.js'
import type { DynamoDbPersistence } from '../../lib/dynamodb/persistence.js'
import { memoryTransport } from '../../lib/memory/transport.js'
import { idsOf } from '../../lib/testing/contract/subject.js'
import { createVirtualClock, type VirtualClock } from '../../lib/testing/virtual-clock.js'
import { RemindPayment } from '../core/bus-stage.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { watchClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

const HOUR_MS = 3_600_000
const isHere = whyNoDynoxide() === undefined

describe('a recall by handle', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(isHere ? 'dynoxide' : 'dynalite')
  })
  afterAll(() => emulator.stop())

  const open = (writeShards = 8) => openPersistence(emulator, { batching: isHere ? 'partiql' : 'single', writeShards })

  const busOn = (persistence: DynamoDbPersistence, clock: VirtualClock) =>
    assembleBus({
      name: 'orders',
      persistence,
      transport: memoryTransport({ clock }),
      clock,
      logger: silentLogger,
      sendOnly: true,
    })

  test('finds its message after the count of shards has grown, and after it has shrunk', async () => {
    const clock = createVirtualClock()
    const { persistence, beside } = await open(8)
    const sent = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        busOn(persistence, clock).send(RemindPayment({ orderId: String(index) }), { deliverAfter: HOUR_MS }),
      ),
    )
    const shards = new Set(sent.map(({ recallHandle }) => parseHandle(recallHandle).shard))
    expect(shards.size).toBeGreaterThan(4)
    await persistence.coordination.growShards(32)
    for (const [index, { recallHandle = '' }] of sent.entries()) {
      const recaller = busOn(beside({ writeShards: index % 2 === 0 ? 32 : 1 }), clock)
      expect((await recaller.recall(recallHandle)).outcome).toBe('recalled')
    }
    const now = clock.now() + HOUR_MS
    const left = await persistence.claimDueOutgoingMessages({ now, dueBefore: now, limit: 100, leaseMs: 30_000 })
    expect(left.claims).toEqual([])
  })

  test('takes back the 950th of 1,000 rows of one second after a dispatcher has read its first page', async () => {
    const clock = createVirtualClock()
    const { persistence, client, beside } = await open(1)
    const bus = busOn(persistence, clock)
    const deliverAt = (index: number) => new Date(clock.now() + 60_000 + index)
    const outcomes = await bus.sendAll(
      Array.from({ length: 1_000 }, (_, index) => ({
        message: RemindPayment({ orderId: String(index) }),
        deliverAt: deliverAt(index),
      })),
    )
    const receipt = outcomes[949]
    if (receipt === undefined || receipt.status === 'failed') throw new Error('it was not sent')
    await clock.advanceBy(61_000)

    // The recall comes when a page has been read, and before anything of it is claimed.
    const recaller = busOn(beside(), clock)
    const answers: string[] = []
    let pages = 0
    watchClient(client, ({ command }) =>
      command === 'QueryCommand' && ++pages === 1
        ? {
            after: async () => {
              answers.push((await recaller.recall(receipt.recallHandle ?? '')).outcome)
            },
          }
        : undefined,
    )
    const claimed: string[] = []
    for (;;) {
      const now = clock.now()
      const look = await persistence.claimDueOutgoingMessages({ now, dueBefore: now, limit: 250, leaseMs: 30_000 })
      claimed.push(...idsOf(look.claims))
      await persistence.deleteOutgoingMessages(look.claims)
      if (!look.more) break
    }
    expect(answers).toEqual(['recalled'])
    expect(claimed).toHaveLength(999)
    expect(claimed).not.toContain(receipt.messageId)
  }, 60_000)

  test('takes back what is overdue while nothing dispatches', async () => {
    const clock = createVirtualClock()
    const { persistence, beside } = await open()
    const { recallHandle = '' } = await busOn(persistence, clock).send(RemindPayment({ orderId: '1' }), {
      deliverAfter: HOUR_MS,
    })
    await clock.advanceBy(300 * 24 * HOUR_MS)
    expect((await busOn(beside(), clock).recall(recallHandle)).outcome).toBe('recalled')
  })

  test('in the handler that sent it sends nothing, stores nothing and asks nothing', async () => {
    const clock = createVirtualClock()
    const { persistence, client, items } = await open()
    const bus = busOn(persistence, clock)
    const calls: string[] = []
    watchClient(client, ({ command }) => {
      calls.push(command)
      return undefined
    })
    const { context, flush } = bus.openContext()
    const { recallHandle = '' } = await context.send(RemindPayment({ orderId: '1' }), { deliverAfter: HOUR_MS })
    expect((await context.recall(recallHandle)).outcome).toBe('recalled')
    await flush()
    expect(calls).toEqual([])
    expect(await items()).toEqual([])
  })
})
