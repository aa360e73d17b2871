import type { Keys } from '../../../lib/core/keys.js'
import type { MemoryPersistence } from '../../../lib/memory/persistence.js'
import { type FaultyPersistence, faulty } from './faulty.js'

type StoreUnderKey = Keys['storeUnderKey']

const changeStore = (fault: string, change: (sound: MemoryPersistence) => StoreUnderKey) =>
  faulty(fault, (sound) => ({ keys: { ...sound.keys, storeUnderKey: change(sound) } }))

/** Faults in keeping one message under a key. */
export const keyFaults: readonly FaultyPersistence[] = [
  changeStore('stores without a look at the key', (sound) => async (message) => {
    const [outcome] = await sound.storeOutgoingMessages([message])
    const { shard, dueAt, rowId } = message
    return outcome?.outcome === 'stored' || outcome?.outcome === 'duplicate'
      ? { outcome: outcome.outcome, address: { shard, dueAt, rowId } }
      : { outcome: 'conflict' }
  }),
  changeStore(
    'replaces where it should keep',
    (sound) => (message, _, now) => sound.keys.storeUnderKey(message, 'replace', now),
  ),
  changeStore(
    'keeps where it should replace',
    (sound) => (message, _, now) => sound.keys.storeUnderKey(message, 'keep', now),
  ),
  changeStore(
    'replaces the time with the payload',
    (sound) => (message, choice, now) =>
      sound.keys.storeUnderKey(message, choice === 'replace-payload' ? 'replace' : choice, now),
  ),
  changeStore(
    'replaces the payload alone',
    (sound) => (message, choice, now) =>
      sound.keys.storeUnderKey(message, choice === 'replace' ? 'replace-payload' : choice, now),
  ),
  changeStore(
    'takes what is being delivered for scheduled',
    (sound) => (message, choice, now) => sound.keys.storeUnderKey(message, choice, now + 60_000),
  ),
  changeStore('does not tell what was replaced', (sound) => async (...asked) => {
    const { ...outcome } = await sound.keys.storeUnderKey(...asked)
    return outcome.outcome === 'stored' ? { outcome: 'stored', address: outcome.address } : outcome
  }),
  changeStore(
    'ignores the case of keys',
    (sound) => (message, choice, now) =>
      sound.keys.storeUnderKey({ ...message, key: message.key.slice(0, 9) }, choice, now),
  ),
  faulty('frees the key of a newer message when the old one is recalled', (sound) => {
    const freed = new Set<string>()
    const keyOf = new Map<string, string>()
    return {
      keys: {
        storeUnderKey: async (message, choice, now) => {
          keyOf.set(message.rowId, message.key)
          const outcome = await sound.keys.storeUnderKey(message, freed.has(message.key) ? 'replace' : choice, now)
          freed.delete(message.key)
          return outcome
        },
        findKey: (key) => (freed.has(key) ? Promise.resolve(undefined) : sound.keys.findKey(key)),
      },
      recallOutgoingMessage: async (address, now) => {
        freed.add(keyOf.get(address.rowId) ?? '')
        return sound.recallOutgoingMessage(address, now)
      },
    }
  }),
  faulty('finds no key after its message was moved', (sound) => ({
    rescheduleOutgoingMessage: async (...asked) => {
      const outcome = await sound.rescheduleOutgoingMessage(...asked)
      Object.assign(sound.keys, { findKey: async () => undefined })
      Object.assign(sound.keys, {
        storeUnderKey: async (message: Parameters<StoreUnderKey>[0]) => {
          await sound.storeOutgoingMessages([message])
          const { shard, dueAt, rowId } = message
          return { outcome: 'stored', address: { shard, dueAt, rowId } }
        },
      })
      return outcome
    },
  })),
]
