import { describe, expect, test } from 'vitest'
import type { RecallWindow } from '../../lib/core/recall-window.js'
import { RemindPayment, refusalOf, setBus } from './bus-stage.js'

const HOUR_MS = 3_600_000

const scheduled = async (recall: boolean | RecallWindow) => {
  const asked: string[] = []
  const stage = setBus({ recall })
  const { store } = stage
  const persistence = {
    ...store,
    recallOutgoingMessage: async (...args: Parameters<typeof store.recallOutgoingMessage>) => {
      asked.push(args[0].rowId)
      return store.recallOutgoingMessage(...args)
    },
  }
  const { bus } = setBus({ recall, persistence, share: stage })
  const receipt = await bus.send(RemindPayment({ orderId: '1' }), { deliverAfter: HOUR_MS })
  return { ...stage, bus, asked, handle: receipt.recallHandle ?? '', dueAt: receipt.dueAt ?? 0 }
}

describe('a bus that takes nothing back', () => {
  test('refuses recalls without asking the store', async () => {
    const { bus, handle, asked } = await scheduled(false)
    expect(await refusalOf(bus.recall(handle))).toMatchObject({
      code: 'recall.switched-off',
      retryable: false,
      details: { bus: 'orders' },
    })
    expect(asked).toEqual([])
  })

  test('refuses them in a context too, also of what is still buffered', async () => {
    const { bus } = await scheduled(false)
    const { context } = bus.openContext()
    const { recallHandle = '' } = await context.send(RemindPayment({ orderId: '2' }), { deliverAfter: HOUR_MS })
    expect(await refusalOf(context.recall(recallHandle))).toMatchObject({ code: 'recall.switched-off' })
  })
})

describe('a bus whose recalls close', () => {
  test('before a message is due, takes it back until then', async () => {
    for (const [beforeMs, expected] of [
      [60_000, 'recalled'],
      [59_999, 'recall.window-closed'],
    ] as const) {
      const { bus, handle, clock, dueAt, asked } = await scheduled({ closesBeforeDue: { minutes: 1 } })
      await clock.advanceTo(dueAt - beforeMs)
      const answer = await refusalOf(bus.recall(handle))
      if (expected === 'recalled') expect(answer).toMatchObject({ resolved: { outcome: expected } })
      else {
        expect(answer).toMatchObject({ code: expected, details: { dueAt, closedAt: dueAt - 60_000 } })
        expect(asked).toEqual([])
      }
    }
  })

  test('after a message was due, takes it back until then', async () => {
    const { bus, handle, clock, dueAt } = await scheduled({ closesAfterDue: { days: 1 } })
    await clock.advanceTo(dueAt + 24 * HOUR_MS)
    expect(await refusalOf(bus.recall(handle))).toMatchObject({ resolved: { outcome: 'recalled' } })
    await clock.advanceBy(1)
    expect(await refusalOf(bus.recall(handle))).toMatchObject({ code: 'recall.window-closed' })
  })
})

test.each([
  [null, 'options.invalid'],
  ['no', 'options.invalid'],
  [{}, 'options.invalid'],
  [{ closesBeforeDue: 1, closesAfterDue: 1 }, 'options.invalid'],
  [{ closesBeforeDue: -1 }, 'options.invalid'],
  [{ closesBefore: 1 }, 'options.unknown'],
])('the bus option recall is not %j', async (recall, code) => {
  const made = await refusalOf(Promise.resolve().then(() => setBus({ recall: recall as boolean })))
  expect(made).toMatchObject({ code })
})
