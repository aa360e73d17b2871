import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assembleBus } from '../../lib/core/bus.js'
import { createDispatcher } from '../../lib/core/dispatch/dispatcher.js'
import { silentLogger } from '../../lib/core/observation.js'
import type { DynamoDbPersistence } from '../../lib/dynamodb/persistence.js'
import { memoryTransport } from '../../lib/memory/transport.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'
import { RemindPayment } from '../core/bus-stage.js'
import { publishAll, scriptTransport } from '../core/dispatch/stage.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { openPersistence } from './open-persistence.js'

const HOUR_MS = 3_600_000
const SENDERS = 50
const KEY = 'invoice-17'
const isHere = whyNoDynoxide() === undefined

describe(`${SENDERS} sends under one key at the same moment`, () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb(isHere ? 'dynoxide' : 'dynalite')
  })
  afterAll(() => emulator.stop())

  const begin = async () => {
    const clock = createVirtualClock()
    const open = await openPersistence(emulator, { batching: isHere ? 'partiql' : 'single' })
    const busOn = (persistence: DynamoDbPersistence) => {
      const transport = memoryTransport({ clock })
      return assembleBus({ name: 'orders', persistence, transport, clock, logger: silentLogger, sendOnly: true })
    }
    // Ten processes, five senders each.
    const buses = Array.from({ length: 10 }, () => busOn(open.beside()))
    const sendAll = (ifScheduled: 'keep' | 'replace' | 'replace-payload') =>
      Promise.all(
        Array.from({ length: SENDERS }, (_, index) =>
          (buses[index % 10] ?? busOn(open.persistence)).send(RemindPayment({ orderId: String(index) }), {
            deliverAfter: HOUR_MS + index,
            key: KEY,
            ifScheduled,
          }),
        ),
      )
    /** Publishes all that is due; answers what was published. */
    const dispatch = async () => {
      const { transport, sent } = scriptTransport(clock, publishAll)
      const dispatcher = createDispatcher({
        persistence: open.persistence,
        transport,
        clock,
        observe: () => {},
        logger: silentLogger,
      })
      await dispatcher.run({ signal: new AbortController().signal, leaveWhenIdleMs: 0 })
      return sent.map(({ id }) => id)
    }
    return { ...open, clock, bus: busOn(open.persistence), sendAll, dispatch }
  }

  test.each(['replace', 'replace-payload'] as const)(
    '%s: one row, one delivery, the payload of one of them, and the key is free afterwards',
    async (choice) => {
      const { clock, bus, sendAll, dispatch, persistence, items } = await begin()
      const first = await bus.send(RemindPayment({ orderId: 'first' }), { deliverAfter: HOUR_MS, key: KEY })
      const receipts = await sendAll(choice)
      expect(new Set(receipts.map(({ messageId }) => messageId)).size).toBe(SENDERS)
      const holder = await persistence.keys.findKey(KEY)
      const winner = receipts.find(({ messageId }) => messageId === holder?.rowId)
      expect(winner).toBeDefined()
      for (const { recallHandle = '' } of [first, ...receipts])
        if (recallHandle !== winner?.recallHandle)
          expect((await bus.recall(recallHandle)).outcome).toBe('already-recalled')

      await clock.advanceBy(HOUR_MS + SENDERS)
      expect(await dispatch()).toEqual([winner?.messageId])
      const again = await bus.send(RemindPayment({ orderId: 'again' }), { deliverAfter: HOUR_MS, key: KEY })
      expect(again.duplicate).toBeUndefined()
      await clock.advanceBy(2 * HOUR_MS)
      expect(await dispatch()).toEqual([again.messageId])
      await dispatch()
      expect(await items('due#')).toEqual([])
    },
    60_000,
  )

  test('keep: one is stored, and all others get its receipt', async () => {
    const { clock, sendAll, dispatch } = await begin()
    const receipts = await sendAll('keep')
    const stored = receipts.filter(({ duplicate }) => duplicate === undefined)
    expect(stored).toHaveLength(1)
    const [{ recallHandle } = { recallHandle: '' }] = stored
    expect(new Set(receipts.map((receipt) => receipt.recallHandle))).toEqual(new Set([recallHandle]))
    await clock.advanceBy(HOUR_MS + SENDERS)
    expect(await dispatch()).toEqual(stored.map(({ messageId }) => messageId))
  }, 60_000)

  test('send, recall, send again: a new row and a new handle', async () => {
    const { clock, bus, dispatch } = await begin()
    const options = { deliverAfter: HOUR_MS, key: KEY }
    const first = await bus.send(RemindPayment({ orderId: '1' }), options)
    expect((await bus.recall(first.recallHandle ?? '')).outcome).toBe('recalled')
    const second = await bus.send(RemindPayment({ orderId: '1' }), options)
    expect(second.messageId).not.toBe(first.messageId)
    expect(second.recallHandle).not.toBe(first.recallHandle)
    await clock.advanceBy(HOUR_MS)
    expect(await dispatch()).toEqual([second.messageId])
  })
})
