import { expect, test } from 'vitest'
import { assembleBus } from '../../../lib/core/bus.js'
import { createDispatcher } from '../../../lib/core/dispatch/dispatcher.js'
import { silentLogger } from '../../../lib/core/observation.js'
import { memoryPersistence } from '../../../lib/memory/persistence.js'
import { createVirtualClock } from '../../../lib/testing/virtual-clock.js'
import { createProcess } from '../../simulation/process.js'
import { RemindPayment } from '../bus-stage.js'
import { publishAll, scriptTransport } from './stage.js'

const LEASE_MS = 12_500
const MARGIN_MS = 5_000
const KEY = 'invoice-17'

/** What is done to the old message while the process that has claimed it stands still, and what is delivered in the end. */
const cases = [
  ['replaced', ['new']],
  ['moved', ['old']],
  ['recalled', []],
] as const

test.each(cases)(
  'a process that stood still past its lease does not publish what was %s meanwhile',
  async (what, delivered) => {
    const clock = createVirtualClock()
    const store = memoryPersistence()
    const stuck = createProcess({ name: 'stuck', clock, skewMs: 0, strike: () => {} })
    const { transport, requests } = scriptTransport(clock, publishAll)
    const bodies: string[] = []
    const counting: typeof transport = {
      ...transport,
      publish: (batch) => {
        bodies.push(...batch.map(({ envelope }) => JSON.parse(envelope.body).orderId as string))
        return transport.publish(batch)
      },
    }
    const bus = assembleBus({ name: 'orders', persistence: store, transport, clock, logger: silentLogger })
    const { recallHandle = '' } = await bus.send(RemindPayment({ orderId: 'old' }), { deliverAfter: 1_500, key: KEY })
    const stopping = new AbortController()
    const dispatch = (on: typeof clock | typeof stuck.clock) =>
      createDispatcher({
        persistence: store,
        transport: counting,
        clock: on,
        observe: () => {},
        logger: silentLogger,
        leaseMs: LEASE_MS,
        publishTimeoutMs: 2_000,
      }).run({ signal: stopping.signal })

    void dispatch(stuck.clock)
    // It has claimed the row, and waits for its instant.
    await clock.advanceBy(1_400)
    expect(
      (await store.inspection.list({ dueFrom: 0, dueBefore: 1e15, now: clock.now(), limit: 9 })).rows,
    ).toMatchObject([{ state: 'leased' }])
    stuck.pause(LEASE_MS + MARGIN_MS + 30_000)
    await clock.advanceBy(LEASE_MS + MARGIN_MS + 1_000)
    if (what === 'replaced') {
      const options = { deliverAfter: 20_000, key: KEY, ifScheduled: 'replace' } as const
      expect(await bus.send(RemindPayment({ orderId: 'new' }), options)).toMatchObject({ status: 'scheduled' })
    } else if (what === 'moved') {
      expect((await bus.reschedule(recallHandle, { deliverAfter: 20_000 })).outcome).toBe('possibly-delivered')
    } else expect((await bus.recall(recallHandle)).outcome).toBe('possibly-delivered')
    const another = dispatch(clock)
    await clock.advanceBy(60_000)
    expect(bodies).toEqual(delivered)
    expect(requests).toHaveLength(delivered.length)
    stopping.abort()
    await clock.advanceBy(5_000)
    await another
  },
)
