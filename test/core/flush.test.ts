import { describe, expect, test } from 'vitest'
import type { HandlerContext } from '../../lib/core/context.js'
import type { BusOptions } from '../../lib/core/settings.js'
import { memoryPersistence } from '../../lib/memory/persistence.js'
import { setBus } from './bus-stage.js'
import { failAll, publishAll } from './dispatch/stage.js'
import { handleWith, remind } from './handler-stage.js'

describe('a crash in the middle of a flush', () => {
  /** A process that ends at the n-th call of its store or topic: before the call does anything, or after it did all. */
  const crashAt = (crash: number, when: 'before' | 'after', share: ReturnType<typeof setBus>) => {
    let calls = 0
    const step = async <T>(work: () => Promise<T>): Promise<T> => {
      if (++calls !== crash) return work()
      if (when === 'after') await work()
      // The process is gone: nobody ever gets an answer.
      return new Promise(() => {})
    }
    const persistence: BusOptions['persistence'] = {
      ...share.store,
      storeOutgoingMessages: (rows) => step(() => share.store.storeOutgoingMessages(rows)),
    }
    return setBus({
      persistence,
      share,
      answer: (batch, nth) => step(async () => publishAll(batch, nth)),
    })
  }

  test.each([
    ['before its rows are stored', 1, 'before', { rows: 0, sent: 0 }],
    ['after its rows are stored', 1, 'after', { rows: 2, sent: 0 }],
    ['before the rest is published', 2, 'before', { rows: 2, sent: 0 }],
    ['after the rest is published', 2, 'after', { rows: 2, sent: 0 }],
  ] as const)('%s is repeated with the same ids, and all is there', async (_where, crash, when, found) => {
    const share = setBus()
    const deliverAt = new Date(share.startAt + 60_000)
    const ids: string[][] = []
    const run = async (ctx: HandlerContext) => {
      const receipts = [
        await ctx.send(remind('now')),
        await ctx.send(remind('later'), { deliverAt }),
        await ctx.send(remind('later too'), { deliverAt }),
      ]
      ids.push(receipts.map(({ messageId }) => messageId))
    }
    const crashing = crashAt(crash, when, share)
    void handleWith(crashing.bus, run)
    await share.clock.advanceBy(1_000)
    const { due } = await share.store.measureBacklog(deliverAt.getTime())
    expect(due).toBe(found.rows)
    const again = setBus({ share })
    expect(await handleWith(again.bus, run)).toEqual([])
    expect(ids[0]).toEqual(ids[1])
    expect(again.sent.map(({ id }) => id)).toEqual([ids[0]?.[0]])
    const rows = await share.rowsLeft()
    expect(rows.map(({ rowId }) => rowId).sort()).toEqual((ids[0] ?? []).slice(1).sort())
  })

  test('a store that fails lets nothing out that can not be taken back, and the record comes again', async () => {
    const memory = memoryPersistence()
    const { bus, sent, lines } = setBus({
      persistence: {
        ...memory,
        storeOutgoingMessages: async () => {
          throw new Error('throttled')
        },
      },
    })
    const failed = await handleWith(bus, async (ctx) => {
      await ctx.send(remind('now'))
      await ctx.send(remind('later'), { deliverAfter: 5_000 })
    })
    expect(failed).toEqual(['record of incoming'])
    expect(sent).toEqual([])
    expect(lines.some(({ level }) => level === 'error')).toBe(true)
  })

  test('a topic that fails leaves the rows, and the record comes again', async () => {
    const { bus, clock, rowsLeft } = setBus({ answer: failAll('topic') })
    const failed = await clock.runUntil(
      handleWith(bus, async (ctx) => {
        await ctx.send(remind('now'))
        await ctx.send(remind('later'), { deliverAfter: 5_000 })
      }),
    )
    expect(failed).toEqual(['record of incoming'])
    expect(await rowsLeft()).toHaveLength(1)
  })
})
