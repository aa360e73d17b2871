import { type FaultyPersistence, faulty } from './faulty.js'

/** Faults in recalling. */
export const recallingFaults: readonly FaultyPersistence[] = [
  faulty('leaves no tombstone', (sound) => {
    const known = new Set<string>()
    return {
      storeOutgoingMessages: (messages) => {
        for (const { rowId } of messages) known.add(rowId)
        return sound.storeOutgoingMessages(messages)
      },
      recallOutgoingMessage: async (address, now) =>
        known.has(address.rowId) || now >= address.dueAt ? sound.recallOutgoingMessage(address, now) : 'not-found',
    }
  }),
  ...[-1, 1].map((by) =>
    faulty(`recalls with a clock that is off by ${by} ms`, (sound) => ({
      recallOutgoingMessage: (address, now) => sound.recallOutgoingMessage(address, now + by),
    })),
  ),
  ...(
    [
      ['possibly-delivered', 'recalled'],
      ['too-late', 'not-found'],
      ['already-recalled', 'recalled'],
      ['too-late', 'recalled'],
      ['recalled', 'possibly-delivered'],
    ] as const
  ).map(([truth, told]) =>
    faulty(`answers ${told} where ${truth} is the truth`, (sound) => ({
      recallOutgoingMessage: async (address, now) => {
        const answer = await sound.recallOutgoingMessage(address, now)
        return answer === truth ? told : answer
      },
    })),
  ),
]
