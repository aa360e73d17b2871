import type { RescheduleOutcome } from '../../../lib/core/persistence.js'
import type { MemoryPersistence } from '../../../lib/memory/persistence.js'
import { type FaultyPersistence, faulty } from './faulty.js'

type Reschedule = MemoryPersistence['rescheduleOutgoingMessage']

const changeReschedule = (fault: string, change: (sound: MemoryPersistence) => Reschedule) =>
  faulty(fault, (sound) => ({ rescheduleOutgoingMessage: change(sound) }))

const changeOutcome = (fault: string, change: (outcome: RescheduleOutcome) => RescheduleOutcome) =>
  changeReschedule(
    fault,
    (sound) =>
      async (...asked) =>
        change(await sound.rescheduleOutgoingMessage(...asked)),
  )

/** Faults in moving rows to another instant. */
export const reschedulingFaults: readonly FaultyPersistence[] = [
  changeReschedule('says that it has moved a row and does not', (sound) => async (address, dueAt, now) => {
    const peeked = await sound.inspection.peek(address, now)
    return peeked?.state === 'waiting'
      ? { outcome: 'rescheduled', address: { ...address, dueAt } }
      : sound.rescheduleOutgoingMessage(address, dueAt, now)
  }),
  changeReschedule(
    'moves a row a millisecond further',
    (sound) => (address, dueAt, now) => sound.rescheduleOutgoingMessage(address, dueAt + 1, now),
  ),
  changeReschedule('stores a copy and leaves the old row', (sound) => async (address, dueAt, now) => {
    const peeked = await sound.inspection.peek(address, now)
    if (peeked === undefined || typeof peeked.envelope !== 'object' || peeked.state !== 'waiting')
      return sound.rescheduleOutgoingMessage(address, dueAt, now)
    const { shard, rowId } = address
    await sound.storeOutgoingMessages([{ shard, rowId, dueAt, envelope: peeked.envelope }])
    return { outcome: 'rescheduled', address: { shard, rowId, dueAt } }
  }),
  changeReschedule(
    'recalls the old row and stores another, which loses its past',
    (sound) => async (address, dueAt, now) => {
      const peeked = await sound.inspection.peek(address, now)
      if (peeked === undefined || typeof peeked.envelope !== 'object' || peeked.state !== 'waiting')
        return sound.rescheduleOutgoingMessage(address, dueAt, now)
      const { shard, rowId } = address
      await sound.recallOutgoingMessage(address, now)
      await sound.storeOutgoingMessages([{ shard, rowId, dueAt, envelope: peeked.envelope }])
      return { outcome: 'rescheduled', address: { shard, rowId, dueAt } }
    },
  ),
  changeReschedule(
    'moves what is leased',
    (sound) => (address, dueAt, now) => sound.rescheduleOutgoingMessage(address, dueAt, now + 60_000),
  ),
  changeOutcome('forgets that a moved message was perhaps published', (outcome) =>
    outcome.outcome === 'possibly-delivered' ? { ...outcome, outcome: 'rescheduled' } : outcome,
  ),
  changeOutcome('does not tell the instant that it was first due', (outcome) => {
    if (!('address' in outcome)) return outcome
    const { firstDueAt: _, ...address } = outcome.address
    return { ...outcome, address }
  }),
  changeOutcome('answers not-found where it is too late', (outcome) =>
    outcome.outcome === 'too-late' ? { outcome: 'not-found' } : outcome,
  ),
  changeOutcome('answers too-late of what was recalled', (outcome) =>
    outcome.outcome === 'recalled' ? { outcome: 'too-late' } : outcome,
  ),
  faulty('does not follow old addresses', (sound) => {
    const moved = new Set<string>()
    return {
      rescheduleOutgoingMessage: async (address, dueAt, now) => {
        const outcome = await sound.rescheduleOutgoingMessage(address, dueAt, now)
        if ('address' in outcome && outcome.address.dueAt !== address.dueAt)
          moved.add(`${address.dueAt} ${address.rowId}`)
        return outcome
      },
      recallOutgoingMessage: async (address, now) =>
        moved.has(`${address.dueAt} ${address.rowId}`) ? 'too-late' : sound.recallOutgoingMessage(address, now),
    }
  }),
]
