import { expect, it } from 'vitest'
import { assembleBus } from '../../lib/core/bus.js'
import { formatHandle } from '../../lib/core/handle.js'
import { LEASE_MARGIN_MS } from '../../lib/core/lease.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { memoryTransport } from '../../lib/memory/transport.js'
import { createVirtualClock } from '../../lib/testing/virtual-clock.js'

const begin = (recallTakesMs = 0) => {
  const clock = createVirtualClock()
  const memory = memoryPersistence()
  const persistence = {
    ...memory,
    recallOutgoingMessage: async (...recall: Parameters<typeof memory.recallOutgoingMessage>) => {
      await new Promise<void>((resolve) => {
        clock.wakeAt(clock.now() + recallTakesMs, resolve)
      })
      return memory.recallOutgoingMessage(...recall)
    },
  }
  const bus = assembleBus({ name: 'orders', clock, persistence, transport: memoryTransport({ clock }) })
  const handleDueIn = (ms: number) =>
    formatHandle({ bus: 'orders', shard: 0, dueAt: clock.now() + ms, rowId: 'published-and-settled' })
  const recall = async (dueInMs: number) => (await clock.runUntil(bus.recall(handleDueIn(dueInMs)))).outcome
  return { recall }
}

it('a row that a dispatcher with a faster clock has published and removed is not called "not-found"', async () => {
  const { recall } = begin()
  expect(await recall(1)).toBe('too-late')
  expect(await recall(LEASE_MARGIN_MS)).toBe('too-late')
})

it('a row that was published and removed while the recall was on its way is not called "not-found"', async () => {
  const { recall } = begin(60_000)
  expect(await recall(30_000)).toBe('too-late')
})

it('further from its instant, what is not found is called "not-found"', async () => {
  const { recall } = begin()
  expect(await recall(LEASE_MARGIN_MS + 1)).toBe('not-found')
})
