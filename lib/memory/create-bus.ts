import { assembleBus, type Bus } from '../core/bus.js'
import type { BusOptions } from '../core/settings.js'
import { memoryPersistence } from './persistence.js'
import { memoryTransport } from './transport.js'

/** The options of a bus, of which only the name is needed. */
export type CreateBusOptions = Partial<BusOptions> & Pick<BusOptions, 'name'>

/** Lambda sets it; other hosts don't. @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html */
const isInLambda = (): boolean => globalThis.process?.env?.AWS_LAMBDA_FUNCTION_NAME !== undefined

/**
 * Makes a bus. Transport and persistence default to memory, which is for tests and a first try: the bus warns once that a
 * restart loses what is scheduled. Inside AWS Lambda it refuses a delayed send on a persistence that isn't durable.
 * @throws PostdateError `options.invalid`
 * @example
 * const bus = createBus({ name: 'orders' })
 * await bus.send(RemindPayment({ orderId: '42' }), { deliverAfter: { days: 3 } })
 */
export const createBus = (options: CreateBusOptions): Bus =>
  assembleBus({
    requireDurable: isInLambda(),
    ...options,
    transport: options.transport ?? memoryTransport({ ...(options.clock && { clock: options.clock }) }),
    persistence: options.persistence ?? memoryPersistence({ ...(options.ids && { ids: options.ids }) }),
  })
