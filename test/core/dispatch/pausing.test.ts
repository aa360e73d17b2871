import { describe, expect, test } from 'vitest'
import { memoryPersistence } from '../../../lib/memory/persistence.js'
import { RemindPayment, setBus } from '../bus-stage.js'

const SECOND = 1_000

const begin = async () => {
  const store = memoryPersistence()
  const stage = setBus({ persistence: store })
  await stage.bus.start()
  const pause = async (paused: boolean) => {
    const { version } = (await store.coordination.readPause?.()) ?? { version: 0 }
    expect(await store.coordination.setPause?.({ paused, version: version + 1 })).toBe(true)
  }
  const send = (deliverAfter: number) => stage.bus.send(RemindPayment({ orderId: '1' }), { deliverAfter })
  return { ...stage, pause, send }
}

describe('a dispatcher that is paused', () => {
  test('publishes nothing, and all that fell due meanwhile when it is resumed', async () => {
    const { clock, pause, send, sent, bus } = await begin()
    await pause(true)
    await clock.advanceBy(5 * SECOND)
    for (let index = 0; index < 20; index++) await send((index + 1) * SECOND)
    await clock.advanceBy(60 * SECOND)
    expect(sent).toEqual([])
    await pause(false)
    await clock.advanceBy(6 * SECOND)
    expect(sent).toHaveLength(20)
    await bus.stop()
  })

  test('holds within five seconds, and what was in hand goes out', async () => {
    const { clock, pause, send, sent, bus } = await begin()
    await send(SECOND)
    await clock.advanceBy(600)
    await pause(true)
    await clock.advanceBy(SECOND)
    expect(sent).toHaveLength(1)
    await clock.advanceBy(5 * SECOND)
    await send(0.5 * SECOND)
    await clock.advanceBy(30 * SECOND)
    expect(sent).toHaveLength(1)
    await bus.stop()
  })

  test('lets messages be taken back and moved', async () => {
    const { clock, pause, send, sent, bus } = await begin()
    await pause(true)
    await clock.advanceBy(5 * SECOND)
    const [one, two] = [await send(SECOND), await send(SECOND)]
    await clock.advanceBy(30 * SECOND)
    expect((await bus.recall(one.recallHandle ?? '')).outcome).toBe('recalled')
    expect((await bus.reschedule(two.recallHandle ?? '', { deliverAfter: 60 * SECOND })).outcome).toBe('rescheduled')
    await pause(false)
    await clock.advanceBy(30 * SECOND)
    expect(sent).toEqual([])
    await clock.advanceBy(31 * SECOND)
    expect(sent).toHaveLength(1)
    await bus.stop()
  })
})

test('where the pause can’t be read, what was known of it stays', async () => {
  const store = memoryPersistence()
  let fails = false
  const coordination = {
    ...store.coordination,
    readPause: async () => {
      if (fails) throw new Error('gone')
      return { paused: true, version: 1 }
    },
  }
  const { bus, clock, sent } = setBus({ persistence: { ...store, coordination } })
  await bus.start()
  await bus.send(RemindPayment({ orderId: '1' }), { deliverAfter: SECOND })
  await clock.advanceBy(10 * SECOND)
  fails = true
  await clock.advanceBy(60 * SECOND)
  expect(sent).toEqual([])
  await bus.stop()
})
