import { describe, expect, test } from 'vitest'
import { assembleBus } from '../../../lib/core/bus.js'
import { createDispatcher } from '../../../lib/core/dispatch/dispatcher.js'
import { silentLogger } from '../../../lib/core/observation.js'
import { defineReceiver, handlerFor } from '../../../lib/core/receiver.js'
import type { Inbox } from '../../../lib/core/redelivery/inbox.js'
import type { IncomingRecord, Transport } from '../../../lib/core/transport.js'
import { toWire } from '../../../lib/core/wire.js'
import { memoryInbox } from '../../../lib/memory/inbox.js'
import { createVirtualClock } from '../../../lib/testing/virtual-clock.js'
import { keepDeadLetters, recordOf } from './batch-stage.js'
import { CardCharged, ChargeCard, durableMemory } from './stage.js'

const never = new Promise<never>(() => {})

/** A process that dies at one of its steps: from then on nothing that it waits for ever comes. */
const createKill = (atStep: number) => {
  const steps: string[] = []
  let isDead = false
  const step = async (name: string): Promise<void> => {
    if (isDead) return never
    steps.push(name)
    if (steps.length !== atStep) return
    isDead = true
    return never
  }
  /** A call with a step before and one after it. */
  const around = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    await step(`before ${name}`)
    const answer = await call()
    await step(`after ${name}`)
    return answer
  }
  return { steps, step, around, isDead: () => isDead }
}

type Kill = ReturnType<typeof createKill>

interface World {
  readonly outcome: 'fails once' | 'succeeds'
  readonly inbox: boolean
}

/** Time enough for what a dead process has left in progress to be over, and for SQS to show its record again. */
const SHOWN_AGAIN_AFTER_MS = 400_000

const playWorld = async ({ outcome, inbox }: World, atStep: number) => {
  const clock = createVirtualClock()
  const store = durableMemory()
  const remembered = memoryInbox({ clock })
  const queue: IncomingRecord[] = [
    recordOf(ChargeCard.$name, ChargeCard({ orderId: '1' }), { correlationId: 'c1' }, 'first'),
  ]
  const published: string[] = []
  const ids = new Set<string>()
  let successes = 0
  let records = 0

  const transport: Transport = {
    name: 'topic',
    limits: { maxMessageBytes: 262_144, maxBatchBytes: 262_144, maxBatchMessages: 10 },
    publish: async (batch) => {
      for (const { envelope, delivery } of batch) {
        if (delivery.target === 'billing') queue.push({ recordId: `copy ${++records}`, ...toWire(envelope, delivery) })
        else published.push(envelope.messageId)
      }
      return batch.map(() => ({ outcome: 'published' }))
    },
  }

  const startProcess = (kill: Kill) => {
    const killableInbox: Inbox = {
      ...remembered,
      once: async (key, work, runningForMs) => {
        await kill.step('before the inbox')
        const answer = await remembered.once(
          key,
          async () => {
            const result = await work()
            await kill.step('before the inbox is told')
            return result
          },
          runningForMs,
        )
        await kill.step('after the inbox was told')
        return answer
      },
    }
    const bus = assembleBus({
      name: 'shop',
      transport: { ...transport, publish: (batch) => kill.around('a publish', () => transport.publish(batch)) },
      persistence: {
        ...store,
        storeOutgoingMessages: (rows) => kill.around('a store', () => store.storeOutgoingMessages(rows)),
      },
      clock,
      logger: silentLogger,
    })
    const handler = handlerFor(ChargeCard, async (_, ctx) => {
      ids.add(ctx.messageId)
      await ctx.publish(CardCharged({ orderId: '1' }))
      await kill.step('in the handler')
      if (outcome === 'fails once' && ctx.attempt === 1) throw new Error('declined')
      successes++
    })
    const receiver = defineReceiver('billing', [handler], inbox ? { inbox: killableInbox } : {})
    return (record: IncomingRecord) => bus.handleRecords([record], receiver, { deadLetters: keepDeadLetters() })
  }

  const dispatch = async () => {
    const dispatcher = createDispatcher({ persistence: store, transport, clock, observe: () => {} })
    await clock.runUntil(dispatcher.run({ signal: new AbortController().signal, leaveWhenIdleMs: 0 }))
  }

  const kill = createKill(atStep)
  let handle = startProcess(kill)
  for (let round = 0; round < 20; round++) {
    await dispatch()
    const [record] = queue
    if (record === undefined && (await store.measureBacklog(clock.now() + 10 ** 9)).due === 0) break
    if (record !== undefined) {
      let answer: readonly string[] | undefined
      void handle(record).then((failed) => {
        answer = failed
      })
      await clock.advanceBy(1)
      // A record that was not acknowledged stays, and is shown again.
      if (answer?.length === 0) queue.shift()
      if (kill.isDead()) handle = startProcess(createKill(0))
    }
    await clock.advanceBy(SHOWN_AGAIN_AFTER_MS)
  }
  return { steps: kill.steps, successes, published, ids, left: queue.length }
}

const worlds: readonly World[] = [
  { outcome: 'succeeds', inbox: false },
  { outcome: 'succeeds', inbox: true },
  { outcome: 'fails once', inbox: false },
  { outcome: 'fails once', inbox: true },
]

/** A handler has resolved, and nobody knows it yet: no inbox can help there. */
const IN_DOUBT = ['before a publish', 'after a publish', 'before the inbox is told']

describe.each(worlds)('a receiver killed at any step, whose handler $outcome, with an inbox: $inbox', (world) => {
  test('delivers at least once, under one id, and loses no send', async () => {
    const { steps } = await playWorld(world, 0)
    expect(steps.length).toBeGreaterThanOrEqual(3)
    for (const [index, at] of steps.entries()) {
      const { successes, published, ids, left } = await playWorld(world, index + 1)
      expect({ at, left, ids: [...ids] }).toEqual({ at, left: 0, ids: ['m1'] })
      expect(successes, at).toBeGreaterThanOrEqual(1)
      // However often it was sent, it is one message.
      expect(new Set(published).size, at).toBe(1)
    }
  })

  if (world.inbox)
    test('has exactly one successful run, unless it is killed between a handler and the inbox', async () => {
      const { steps } = await playWorld(world, 0)
      const twice: string[] = []
      for (const [index, at] of steps.entries()) {
        const { successes } = await playWorld(world, index + 1)
        if (successes !== 1) twice.push(at)
      }
      expect(twice.filter((at) => !IN_DOUBT.includes(at))).toEqual([])
      expect(steps).toContain('after the inbox was told')
    })
})

test('without an inbox, a receiver killed after the copy was stored succeeds twice: what the inbox is for', async () => {
  const without = { outcome: 'fails once', inbox: false } as const
  const { steps } = await playWorld(without, 0)
  const killedAt = steps.indexOf('after a store') + 1
  const { successes } = await playWorld(without, killedAt)
  const withInbox = { ...without, inbox: true }
  const { steps: stepsWith } = await playWorld(withInbox, 0)
  const { successes: once } = await playWorld(withInbox, stepsWith.indexOf('after a store') + 1)
  expect([successes, once]).toEqual([2, 1])
})
