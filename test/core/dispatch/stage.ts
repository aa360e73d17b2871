import type { DispatchOptions } from '../../../lib/core/dispatch/dispatch-options.js'
import { createDispatcher, type DispatchRun } from '../../../lib/core/dispatch/dispatcher.js'
import type { Envelope } from '../../../lib/core/envelope.js'
import type { BusEvent } from '../../../lib/core/observation.js'
import type { ClaimRequest, ClaimResult, DelayingPersistence, OutgoingMessage } from '../../../lib/core/persistence.js'
import type { Publication, PublishOutcome, Transport } from '../../../lib/core/transport.js'
import { type MemoryPersistence, memoryPersistence } from '../../../lib/memory/persistence.js'
import { createVirtualClock, type VirtualClock } from '../../../lib/testing/virtual-clock.js'

/** A publish request, as the topic saw it. */
export interface PublishRequest {
  /** Epoch milliseconds. */
  readonly at: number
  readonly ids: readonly string[]
}

/** A look at the due rows, as the store saw it. */
export interface SeenLook {
  readonly at: number
  readonly request: ClaimRequest
}

/** A published message and when it went out. */
export interface Sent {
  readonly at: number
  readonly id: string
  readonly dueAt: number | undefined
}

/** What a scripted topic answers, one outcome per message. */
export type Answer = (
  batch: readonly Publication[],
  nth: number,
) => readonly PublishOutcome[] | Promise<readonly PublishOutcome[]>

/** How a stage is set. */
export interface StageOptions {
  /** @default publishes all */
  readonly answer?: Answer
  readonly dispatch?: DispatchOptions
  readonly limits?: Partial<Transport['limits']>
  /** Wraps the store as the dispatcher sees it. */
  readonly wrap?: (store: MemoryPersistence, clock: VirtualClock) => DelayingPersistence
  readonly shards?: number
  /** Use these instead of new ones: a second dispatcher beside another. */
  readonly share?: { readonly clock: VirtualClock; readonly store: MemoryPersistence }
}

/** All of a batch with one outcome. */
export const failAll =
  (
    blames: 'message' | 'request' | 'passing' | 'topic',
    published: 'no' | 'perhaps' = 'no',
    reason = 'refused',
  ): Answer =>
  (batch) =>
    batch.map(() => ({ outcome: 'failed', blames, published, reason }))

/** All of a batch published. */
export const publishAll: Answer = (batch) => batch.map(() => ({ outcome: 'published' }))

/** An envelope of ordinary content. */
export const envelopeOf = (messageId: string, body = `{"orderId":"${messageId}"}`): Envelope => ({
  messageId,
  kind: 'command',
  name: 'orders/remind',
  body,
  correlationId: 'conversation',
  attributes: {},
  stickyAttributes: {},
  headers: {},
  sentAt: 0,
})

/** A topic that answers as it was told and remembers what it was asked. */
export const scriptTransport = (clock: VirtualClock, answer: Answer, limits: Partial<Transport['limits']> = {}) => {
  const requests: PublishRequest[] = []
  const sent: Sent[] = []
  const transport: Transport = {
    name: 'scripted',
    limits: { maxMessageBytes: 262_144, maxBatchBytes: 262_144, maxBatchMessages: 10, ...limits },
    publish: async (batch) => {
      const at = clock.now()
      requests.push({ at, ids: batch.map(({ envelope }) => envelope.messageId) })
      const outcomes = await answer(batch, requests.length)
      for (const [index, { envelope, delivery }] of batch.entries())
        if (outcomes[index]?.outcome === 'published') sent.push({ at, id: envelope.messageId, dueAt: delivery.dueAt })
      return outcomes
    },
  }
  return { transport, requests, sent }
}

/** A dispatcher on a virtual clock, a store in memory and a scripted topic. */
export const setStage = (options: StageOptions = {}) => {
  const clock = options.share?.clock ?? createVirtualClock()
  const startAt = clock.now()
  const store = options.share?.store ?? memoryPersistence({ shards: options.shards ?? 1 })
  const wrapped = options.wrap?.(store, clock) ?? store
  const looks: SeenLook[] = []
  const persistence: DelayingPersistence = {
    ...wrapped,
    claimDueOutgoingMessages: (request): Promise<ClaimResult> => {
      looks.push({ at: clock.now(), request })
      return wrapped.claimDueOutgoingMessages(request)
    },
  }
  const events: (BusEvent & { readonly at: number })[] = []
  const observe = (event: BusEvent) => {
    events.push({ ...event, at: clock.now() })
  }
  const { transport, requests, sent } = scriptTransport(clock, options.answer ?? publishAll, options.limits)
  const dispatcher = createDispatcher({ ...options.dispatch, persistence, transport, clock, observe })

  /** Stores rows due so many milliseconds after the start. */
  const put = async (...rows: readonly (readonly [id: string, dueInMs: number, part?: Partial<OutgoingMessage>])[]) => {
    const messages = rows.map(([rowId, dueInMs, part]): OutgoingMessage => {
      return { shard: 0, rowId, dueAt: startAt + dueInMs, envelope: envelopeOf(rowId), ...part }
    })
    await store.storeOutgoingMessages(messages)
    return messages
  }

  /** Runs until stopped or idle. `stop` moves the clock to the end, and answers when that was. */
  const run = (how: Omit<DispatchRun, 'signal'> = {}) => {
    const stopping = new AbortController()
    const ended = dispatcher.run({ signal: stopping.signal, ...how }).then(() => clock.now())
    const abort = () => stopping.abort()
    const stop = async () => {
      abort()
      return clock.runUntil(ended)
    }
    return { ended, abort, stop }
  }

  /** What may be claimed an hour from now: all rows that are left and not recalled or dead. */
  const rowsLeft = async () => {
    const inAnHour = clock.now() + 3_600_000
    const request = { now: inAnHour, dueBefore: inAnHour, limit: 100_000, leaseMs: 1 }
    const { claims } = await store.claimDueOutgoingMessages(request)
    return claims.map(({ rowId, claims: unended }) => ({ rowId, unended }))
  }

  const eventsOf = <T extends BusEvent['type']>(type: T) =>
    events.filter((event): event is Extract<BusEvent, { type: T }> & { readonly at: number } => event.type === type)

  return { clock, startAt, store, looks, requests, sent, events, eventsOf, dispatcher, put, run, rowsLeft }
}

/** Ids of so many messages. */
export const idsUpTo = (count: number): string[] => Array.from({ length: count }, (_, index) => `m${index}`)
