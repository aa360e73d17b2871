import type { Publication, PublishOutcome, Transport } from '../../lib/core/transport.js'
import { toWire } from '../../lib/core/wire.js'
import { numberOf } from './history.js'
import type { SimulatedProcess } from './process.js'
import type { SimulatedQueue } from './queue.js'
import type { Flight, WatchedTopic } from './watch-topic.js'
import { doLater, travel, type World, wait } from './world.js'

/** The one topic of a simulation. */
export interface SimulatedTopic {
  readonly watched: WatchedTopic
  /** Every queue gets every message, and of redeliveries those to its receiver. */
  readonly queues: readonly SimulatedQueue[]
  /** Whether it takes nothing at present. */
  readonly isDown: () => boolean
  /** How it refuses a message every time. */
  readonly refusalOf: (number: string) => 'message' | 'request' | undefined
}

const LIMITS = { maxMessageBytes: 262_144, maxBatchBytes: 262_144, maxBatchMessages: 10 } as const
/** How long after a time-out a publish may still arrive. */
const LATE_MS = 8_000
const OFTEN = 0.06
const REFUSALS_THAT_PASS = 2
/** More failures than a refused message survives: those that pass never kill. */
const STUMBLES = 7

type Failure = Extract<PublishOutcome, { readonly outcome: 'failed' }>

const fail = (blames: Failure['blames'], published: Failure['published'], reason: string): Failure => ({
  outcome: 'failed',
  blames,
  published,
  reason,
})

/** The transport of one process. */
export const simulateTransport = (world: World, process: SimulatedProcess, topic: SimulatedTopic): Transport => {
  const { faults, random, publishTimeoutMs } = world

  const arrive = (flight: Flight): void => {
    const { envelope, delivery } = flight.publication
    topic.watched.arrive(flight)
    for (const queue of topic.queues)
      if (delivery.target === undefined || delivery.target === queue.name)
        queue.add(envelope.messageId, toWire(envelope, delivery))
  }

  /** What becomes of one entry of a request that the topic takes. */
  const enter = (flight: Flight): PublishOutcome => {
    const { envelope } = flight.publication
    const about = () => ({ process: process.name, messageIds: [envelope.messageId] })
    const { refusals } = flight.message
    if (topic.refusalOf(numberOf(envelope)) === 'message') {
      flight.message.refusals++
      faults.keep('refused-for-good', about())
      return fail('message', 'no', 'the message is refused')
    }
    if (refusals < REFUSALS_THAT_PASS && faults.draw('refused-twice', OFTEN, about())) {
      flight.message.refusals++
      return fail('message', 'no', 'the message is refused for now')
    }
    const goesOn = flight.message.stumbles > 0 && faults.keep('entry-failed', about()) !== undefined
    if (goesOn || faults.draw('entry-failed', OFTEN, about())) {
      flight.message.stumbles = goesOn ? flight.message.stumbles - 1 : random.pick([0, 0, 0, STUMBLES])
      const isDelivered = random.chance(0.4)
      if (isDelivered) arrive(flight)
      return fail('passing', isDelivered || random.chance(0.5) ? 'perhaps' : 'no', 'the entry failed')
    }
    arrive(flight)
    return { outcome: 'published' }
  }

  const transmit = async (flights: readonly Flight[]): Promise<readonly PublishOutcome[]> => {
    const ids = flights.map(({ publication }) => publication.envelope.messageId)
    const about = () => ({ process: process.name, messageIds: [...ids] })
    const startedAt = world.clock.now()
    const journey = { process, messageIds: ids, atMostMs: publishTimeoutMs - 1 }
    const timeOut = () => wait(world, startedAt + publishTimeoutMs - world.clock.now())
    const all = (failure: Failure) => flights.map(() => failure)
    await travel(world, journey)
    if (topic.isDown()) return all(fail('topic', 'no', 'the topic is down'))
    if (faults.draw('topic-throttled', OFTEN, about())) return all(fail('topic', 'no', 'throttled'))
    const isPoisoned = flights.some(({ message }) => topic.refusalOf(message.number) === 'request')
    if (isPoisoned) faults.keep('request-poisoned', about())
    if (isPoisoned || faults.draw('request-refused', OFTEN, about())) {
      // Alone, a refusal counts against the message itself.
      if (flights.length === 1) for (const { message } of flights) message.refusals++
      return all(fail('request', 'no', 'the request is refused'))
    }
    if (faults.draw('topic-late', OFTEN, about())) {
      for (const flight of flights)
        if (random.chance(0.8)) void doLater(world, publishTimeoutMs + random.integer(1, LATE_MS), () => arrive(flight))
      await timeOut()
      return all(fail('topic', 'perhaps', 'timed out'))
    }
    if (faults.draw('topic-threw', OFTEN, about())) {
      for (const flight of flights) if (random.chance(0.5)) arrive(flight)
      throw new Error('the transport is broken')
    }
    const outcomes = flights.map(enter)
    if (faults.draw('topic-timed-out', OFTEN, about())) {
      await timeOut()
      return all(fail('topic', 'perhaps', 'timed out, and was delivered'))
    }
    await travel(world, { ...journey, atMostMs: Math.max(1, startedAt + publishTimeoutMs - world.clock.now() - 1) })
    return outcomes
  }

  return {
    name: 'simulated',
    limits: LIMITS,
    publish: (batch: readonly Publication[]) => {
      const flights = batch.map((publication) => topic.watched.depart(process, publication))
      return process.call('publish', () => transmit(flights))
    },
  }
}
