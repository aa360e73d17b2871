import type { Observer } from '../../lib/core/observation.js'
import type { Receiver } from '../../lib/core/receiver.js'
import type { DeadLetters } from '../../lib/core/redelivery/dead-letter.js'
import { count } from './history.js'
import type { SimulatedProcess } from './process.js'
import type { SimulatedQueue } from './queue.js'
import { travel, type World } from './world.js'

/** Counts the runs of handlers that failed, by message and receiver. */
export const countFailures =
  ({ history }: World, queues: readonly SimulatedQueue[]): Observer =>
  (event) => {
    if (event.type !== 'handling-failed') return
    const records = queues.find(({ name }) => name === event.receiver)?.records
    const record = records?.find(({ id }) => id === event.recordId)
    if (record !== undefined) count(history.message(record.number).failed, event.receiver)
  }

const OFTEN = 0.05

/** The dead letters of a receiver, behind the network. What comes there has failed as often as is allowed. */
export const simulateDeadLetters = (world: World, process: SimulatedProcess, receiver: Receiver): DeadLetters => {
  const { history, faults } = world
  return {
    name: `${receiver.name}-dead`,
    send: ({ record, reason }) => {
      const number = String((JSON.parse(record.body) as { number: unknown }).number)
      const messageIds = [record.attributes.messageId ?? '']
      const about = () => ({ process: process.name, messageIds: [...messageIds] })
      return process.call('bury', async () => {
        await travel(world, { process, messageIds })
        if (faults.draw('store-refused', OFTEN, about())) throw new Error('throttled')
        const { failed, buriedBy } = history.message(number)
        const failures = failed.get(receiver.name) ?? 0
        buriedBy.add(receiver.name)
        history.trace(process.name, () => `BURIES ${number}: ${reason}`)
        if (reason === '') history.violate('dead', `${number} lies among the dead letters without a reason`)
        if (failures < (receiver.redelivery?.maxAttempts ?? 0))
          history.violate('dead', `${number} lies among the dead letters after ${failures} failures: ${reason}`)
        if (faults.draw('store-timed-out', OFTEN, about())) throw new Error('timed out, and was applied')
        await travel(world, { process, messageIds })
      })
    },
  }
}
