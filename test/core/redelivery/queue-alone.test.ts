import { describe, expect, test } from 'vitest'
import { handlerFor } from '../../../lib/core/receiver.js'
import { requeue } from '../../../lib/core/redelivery/handler-result.js'
import type { RedeliveryOptions } from '../../../lib/core/redelivery/redelivery-policy.js'
import { memoryPersistence } from '../../../lib/memory/persistence.js'
import { ChargeCard, setStage } from './stage.js'

interface Run {
  readonly afterMs: number
  readonly attempt: number
}

describe('the queue alone retries', () => {
  const setQueueOnly = async (
    redelivery: RedeliveryOptions | undefined,
    persistence: ReturnType<typeof memoryPersistence>,
    handle: () => unknown,
  ) => {
    const runs: Run[] = []
    const stage = await setStage(
      [
        {
          handlers: [
            handlerFor(ChargeCard, (_, ctx) => {
              runs.push({ afterMs: stage.clock.now() - stage.startAt, attempt: ctx.attempt })
              return handle()
            }),
          ],
          ...(redelivery !== undefined && { redelivery }),
        },
      ],
      { persistence },
    )
    await stage.bus.send(ChargeCard({ orderId: '1' }))
    await stage.clock.advanceBy(600_000)
    await stage.clock.runUntil(stage.bus.stop())
    return { ...stage, runs }
  }
  const fail = () => {
    throw new Error('no')
  }
  const byVisibility = [0, 1, 2, 3, 4].map((times) => ({ afterMs: times * 1_000, attempt: 1 }))

  test('when redelivery is off: nothing is in the store, and the redrive policy gives up', async () => {
    const stored: string[] = []
    const persistence = { ...memoryPersistence(), durable: true }
    const { runs, dead, of } = await setQueueOnly(
      { enabled: false },
      {
        ...persistence,
        storeOutgoingMessages: async (messages) => {
          stored.push(...messages.map(({ rowId }) => rowId))
          return persistence.storeOutgoingMessages(messages)
        },
      },
      fail,
    )
    expect(runs).toEqual(byVisibility)
    expect(dead()).toMatchObject([{ why: undefined }])
    expect(stored).toEqual([])
    expect(of('given-back')).toHaveLength(5)
  })

  test('when the persistence is not durable', async () => {
    const { runs, dead } = await setQueueOnly(undefined, memoryPersistence(), fail)
    expect(runs).toEqual(byVisibility)
    expect(dead()).toHaveLength(1)
  })

  test('when the store can not take the copy: nothing is lost', async () => {
    const persistence = { ...memoryPersistence(), durable: true }
    const { runs, of } = await setQueueOnly(
      undefined,
      {
        ...persistence,
        storeOutgoingMessages: async () => {
          throw new Error('the store is down')
        },
      },
      fail,
    )
    expect(runs).toEqual(byVisibility)
    expect(of('given-back').map(({ reason }) => reason)).toEqual(
      Array(5).fill(expect.stringContaining('the store is down')),
    )
  })

  test('a requeue that can not be kept: it is no success, and its sends do not go out', async () => {
    const { runs, of, log } = await setQueueOnly(undefined, memoryPersistence(), () => requeue({ after: 1 }))
    expect(runs).toEqual(byVisibility)
    expect(of('given-back')[0]?.reason).toContain('receiver.requeue-not-possible')
    expect(log.lines.some(({ level }) => level === 'error')).toBe(true)
  })
})
