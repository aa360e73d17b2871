import { assembleBus, type Bus } from '../../lib/core/bus.js'
import { defineCommand, defineEvent } from '../../lib/core/message.js'
import type { BusEvent, Logger } from '../../lib/core/observation.js'
import type { BusOptions } from '../../lib/core/settings.js'
import { type MemoryPersistence, memoryPersistence } from '../../lib/memory/persistence.js'
import { type MemoryTransport, memoryTransport } from '../../lib/memory/transport.js'
import { createVirtualClock, type VirtualClock } from '../../lib/testing/virtual-clock.js'
import { type Answer, publishAll, scriptTransport } from './dispatch/stage.js'

/** A command of the tests. */
export const RemindPayment = defineCommand('orders/remind', 1)<{ orderId: string; note?: string }>()
/** An event of the tests. */
export const OrderPlaced = defineEvent('orders/placed', 1)<{ orderId: string }>()

/** A logger that keeps what it is told. */
export const keepLog = () => {
  const lines: { readonly level: string; readonly message: string }[] = []
  const at = (level: string) => (message: string) => void lines.push({ level, message })
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  return { logger, lines, warnings: () => lines.filter(({ level }) => level === 'warn').map(({ message }) => message) }
}

/** What several buses of one test share. */
export interface Shared {
  readonly clock: VirtualClock
  readonly store: MemoryPersistence
}

/** A bus on virtual time, a store in memory and a scripted topic. */
export const setBus = (options: Partial<BusOptions> & { readonly answer?: Answer; readonly share?: Shared } = {}) => {
  const { answer = publishAll, share, ...rest } = options
  const clock = share?.clock ?? createVirtualClock()
  const startAt = clock.now()
  const store = share?.store ?? memoryPersistence()
  const { transport, requests, sent } = scriptTransport(clock, answer)
  const log = keepLog()
  const events: BusEvent[] = []
  const bus = assembleBus({
    name: 'orders',
    transport,
    persistence: store,
    clock,
    logger: log.logger,
    onEvent: (event) => void events.push(event),
    ...rest,
  })
  /** Rows that wait, as a dispatcher an hour after the last due instant would find them. */
  const rowsLeft = async () => {
    const now = clock.now() + 400 * 86_400_000
    return (await store.claimDueOutgoingMessages({ now, dueBefore: now, limit: 10_000, leaseMs: 1 })).claims
  }
  return { bus, clock, startAt, store, requests, sent, events, rowsLeft, ...log }
}

/** A bus whose transport is in memory, so that what it publishes is received. */
export const setReceivingBus = (
  make: (transport: MemoryTransport, clock: VirtualClock) => Partial<BusOptions>,
  share?: Shared,
): {
  bus: Bus
  clock: VirtualClock
  store: MemoryPersistence
  transport: MemoryTransport
  events: BusEvent[]
} & ReturnType<typeof keepLog> => {
  const clock = share?.clock ?? createVirtualClock()
  const store = share?.store ?? memoryPersistence()
  const log = keepLog()
  const transport = memoryTransport({ clock, logger: log.logger })
  const events: BusEvent[] = []
  const bus = assembleBus({
    name: 'orders',
    transport,
    persistence: store,
    clock,
    logger: log.logger,
    onEvent: (event) => void events.push(event),
    ...make(transport, clock),
  })
  return { bus, clock, store, transport, events, ...log }
}

/** What a promise that rejects was rejected with. */
export const refusalOf = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    return { resolved: await work }
  } catch (error) {
    return error
  }
}
