import { assembleBus, type Bus } from '../core/bus.js'
import type { BusOptions } from '../core/settings.js'
import { memoryPersistence } from './persistence.js'
import { memoryTransport } from './transport.js'

/** The options of a bus, of which only the name is needed. */
export type CreateBusOptions = Partial<BusOptions> & Pick<BusOptions, 'name'>

/**
 * Makes a bus. Transport and persistence default to memory, which is for tests and a first try: the bus warns once that a
 * restart loses what is scheduled.
 * @throws PostdateError `options.invalid`
 * @example
 * const bus = createBus({ name: 'orders' })
 * await bus.send(RemindPayment({ orderId: '42' }), { deliverAfter: { days: 3 } })
 */
export const createBus = (options: CreateBusOptions): Bus =>
  assembleBus({
    ...options,
    transport: options.transport ?? memoryTransport({ ...(options.clock && { clock: options.clock }) }),
    persistence: options.persistence ?? memoryPersistence({ ...(options.ids && { ids: options.ids }) }),
  })
