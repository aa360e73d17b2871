import { assembleBus, type Bus } from '../../../lib/core/bus.js'
import { defineCommand, defineEvent } from '../../../lib/core/message.js'
import type { BusEvent } from '../../../lib/core/observation.js'
import type { DelayingPersistence } from '../../../lib/core/persistence.js'
import { defineReceiver, type Handler, type ReceiverOptions } from '../../../lib/core/receiver.js'
import type { BusOptions } from '../../../lib/core/settings.js'
import { type MemoryPersistence, memoryPersistence } from '../../../lib/memory/persistence.js'
import { type MemoryTransport, memoryTransport } from '../../../lib/memory/transport.js'
import { createVirtualClock, type VirtualClock } from '../../../lib/testing/virtual-clock.js'
import { keepLog } from '../bus-stage.js'

/** A command of the tests. */
export const ChargeCard = defineCommand('shop/charge-card', 1)<{ orderId: string; note?: string }>()
/** An event of the tests. */
export const CardCharged = defineEvent('shop/card-charged', 1)<{ orderId: string }>()

/** A persistence in memory that passes for a durable one: the tests' process does not end. */
export const durableMemory = (): MemoryPersistence & { readonly durable: boolean } => ({
  ...memoryPersistence(),
  durable: true,
})

/** A receiver of the stage: its queue has its name. */
export interface StagedReceiver extends ReceiverOptions {
  readonly name?: string
  readonly handlers: readonly Handler[]
}

/** What a stage is made of. */
export interface Stage {
  readonly bus: Bus
  readonly clock: VirtualClock
  readonly startAt: number
  readonly transport: MemoryTransport
  readonly persistence: DelayingPersistence
  readonly events: BusEvent[]
  /** The events of one type. */
  of<T extends BusEvent['type']>(type: T): readonly Extract<BusEvent, { type: T }>[]
  /** The dead records of a receiver, with what their attribute `deadLetter` says. */
  dead(receiver?: string): readonly { readonly body: string; readonly why: Record<string, unknown> | undefined }[]
  readonly log: ReturnType<typeof keepLog>
}

/** A bus on virtual time with receivers that are started; transport and store in memory. */
export const setStage = async (
  receivers: readonly StagedReceiver[],
  options: Partial<BusOptions> & { readonly persistence?: DelayingPersistence } = {},
): Promise<Stage> => {
  const clock = createVirtualClock()
  const log = keepLog()
  const transport = memoryTransport({ clock, logger: log.logger })
  const persistence = options.persistence ?? durableMemory()
  const events: BusEvent[] = []
  const bus = assembleBus({
    name: 'shop',
    transport,
    clock,
    logger: log.logger,
    onEvent: (event) => void events.push(event),
    receivers: receivers.map(({ name = 'billing', handlers, ...rest }) => ({
      receiver: defineReceiver(name, handlers, rest),
      source: transport.source(name, [...handlers.map(({ messageName }) => messageName), `@${name}`]),
    })),
    ...options,
    persistence,
  })
  await bus.start()
  return {
    bus,
    clock,
    startAt: clock.now(),
    transport,
    persistence,
    events,
    log,
    of: <T extends BusEvent['type']>(type: T) =>
      events.filter((event): event is Extract<BusEvent, { type: T }> => event.type === type),
    dead: (receiver = 'billing') =>
      transport.deadRecords(receiver).map(({ body, attributes: { deadLetter } }) => ({
        body,
        why: deadLetter === undefined ? undefined : JSON.parse(deadLetter),
      })),
  }
}
