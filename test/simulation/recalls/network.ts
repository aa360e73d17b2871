import { PostdateError } from '../../../lib/core/errors.js'
import type { Claim, DelayingPersistence, SettleOutcome } from '../../../lib/core/persistence.js'
import type { PublishOutcome, Transport } from '../../../lib/core/transport.js'
import type { VirtualClock } from '../../../lib/testing/virtual-clock.js'
import type { SimulatedProcess } from '../process.js'
import type { Random } from '../random.js'
import type { Operation, Points } from './points.js'
import type { Watch } from './watch.js'

/** What the calls of a simulation share. */
export interface Network {
  readonly clock: VirtualClock
  readonly random: Random
  readonly points: Points
  readonly watch: Watch
  readonly publishTimeoutMs: number
  /** How likely a call fails. */
  readonly faultiness: () => number
}

const LATE_MS = 1_000
const LATE_PUBLISH_MS = 8_000

/** Lets time pass. */
export const wait = (clock: VirtualClock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.wakeAt(clock.now() + ms, resolve)
  })

const unavailable = (reason: string) =>
  new PostdateError('persistence.unavailable', { persistence: 'simulated', operation: 'answer', reason })

/** A call that may be refused, done without an answer, or done after its error. */
const call = <T>(
  network: Network,
  process: SimulatedProcess,
  operation: Operation,
  apply: () => Promise<T>,
): Promise<T> => {
  const { clock, random, points, faultiness } = network
  return process.call(operation, async () => {
    await points.pass(operation, 'leaving')
    await wait(clock, random.integer(1, 30))
    const fate = random.chance(faultiness()) ? random.pick(['refused', 'late', 'lost'] as const) : 'good'
    if (fate === 'refused') throw unavailable('throttled')
    if (fate === 'late') {
      void wait(clock, random.integer(1, LATE_MS)).then(apply)
      throw unavailable('timed out')
    }
    await points.pass(operation, 'arrived')
    const answer = await apply()
    await points.pass(operation, 'done')
    if (fate === 'lost') throw unavailable('timed out, and was done')
    await wait(clock, random.integer(1, 30))
    await points.pass(operation, 'answered')
    return answer
  })
}

/** The store as a process reaches it. */
export const reachStore = (
  network: Network,
  process: SimulatedProcess,
  inner: DelayingPersistence,
): DelayingPersistence => {
  const { watch } = network
  const settleAll = async (claims: readonly Claim[]): Promise<readonly SettleOutcome[]> => {
    const outcomes = await inner.deleteOutgoingMessages(claims)
    for (const [index, claim] of claims.entries())
      if (outcomes[index]?.outcome === 'settled') watch.ended(claim, 'settled')
    return outcomes
  }
  return {
    name: 'simulated',
    storeOutgoingMessages: (messages) =>
      call(network, process, 'store', async () => {
        const outcomes = await inner.storeOutgoingMessages(messages)
        if (outcomes.some(({ outcome }) => outcome === 'stored')) watch.stored()
        return outcomes
      }),
    claimDueOutgoingMessages: (request) =>
      call(network, process, 'claim', async () => {
        const found = await inner.claimDueOutgoingMessages(request)
        for (const claim of found.claims) watch.claimed(claim)
        return found
      }),
    deleteOutgoingMessages: (claims) => call(network, process, 'settle', () => settleAll(claims)),
    releaseOutgoingMessages: (releases) =>
      call(network, process, 'release', async () => {
        const outcomes = await inner.releaseOutgoingMessages(releases)
        for (const [index, { claim, published }] of releases.entries())
          if (outcomes[index]?.outcome === 'settled')
            watch.ended(claim, published === 'perhaps' ? 'perhaps published' : 'unpublished')
        return outcomes
      }),
    recallOutgoingMessage: (address, now) => inner.recallOutgoingMessage(address, now),
    measureBacklog: (now) => inner.measureBacklog(now),
  }
}

/** The topic as a process reaches it. */
export const reachTopic = (network: Network, process: SimulatedProcess): Transport => {
  const { clock, random, points, watch, publishTimeoutMs, faultiness } = network
  const failed = (blames: 'topic' | 'passing', published: 'no' | 'perhaps'): PublishOutcome => ({
    outcome: 'failed',
    blames,
    published,
    reason: 'simulated',
  })
  return {
    name: 'simulated',
    limits: { maxMessageBytes: 262_144, maxBatchBytes: 262_144, maxBatchMessages: 10 },
    publish: (batch) =>
      process.call('publish', async () => {
        const ids = batch.map(({ envelope }) => envelope.messageId)
        const arrive = () => {
          for (const id of ids) watch.published(id)
        }
        await points.pass('publish', 'leaving')
        await wait(clock, random.integer(1, 30))
        const fate = random.chance(faultiness() * 2)
          ? random.pick(['refused', 'entry', 'late', 'lost', 'unsure'] as const)
          : 'good'
        await points.pass('publish', 'arrived')
        if (fate === 'refused' || fate === 'entry') {
          await points.pass('publish', 'done')
          return ids.map(() => failed(fate === 'entry' ? 'passing' : 'topic', 'no'))
        }
        if (fate === 'good' || fate === 'lost') arrive()
        if (fate === 'late') void wait(clock, publishTimeoutMs + random.integer(1, LATE_PUBLISH_MS)).then(arrive)
        await points.pass('publish', 'done')
        await wait(clock, fate === 'good' ? random.integer(1, 30) : publishTimeoutMs - 100)
        await points.pass('publish', 'answered')
        return ids.map(
          (): PublishOutcome => (fate === 'good' ? { outcome: 'published' } : failed('passing', 'perhaps')),
        )
      }),
  }
}
