import type { Claim, OutgoingMessage } from '../../../lib/core/persistence.js'
import { memoryPersistence } from '../../../lib/memory/persistence.js'
import { changeBody, changeStored, type FaultyPersistence, faulty } from './faulty.js'

/** Faults in storing. */
export const storingFaults: readonly FaultyPersistence[] = [
  {
    fault: 'repeats the values of its lease register',
    make: () => memoryPersistence({ ids: { messageId: () => 'id', token: () => 'same' } }),
  },
  faulty('answers a repeat as if it were new', (sound) => ({
    storeOutgoingMessages: async (messages) => {
      const outcomes = await sound.storeOutgoingMessages(messages)
      return outcomes.map((one) => (one.outcome === 'duplicate' ? { outcome: 'stored' } : one))
    },
  })),
  faulty('takes another message under one id for a repeat', (sound) => ({
    storeOutgoingMessages: async (messages) => {
      const outcomes = await sound.storeOutgoingMessages(messages)
      return outcomes.map((one) => (one.outcome === 'conflict' ? { outcome: 'duplicate' } : one))
    },
  })),
  faulty('answers a batch in its own order', (sound) => ({
    storeOutgoingMessages: async (messages) => [...(await sound.storeOutgoingMessages(messages))].reverse(),
  })),
  changeStored('drops falsy attribute values', (message) => {
    const attributes = Object.fromEntries(Object.entries(message.envelope.attributes).filter(([, value]) => value))
    return { ...message, envelope: { ...message.envelope, attributes } }
  }),
  changeStored('ignores the instant when it tells rows apart', (message) => ({
    ...message,
    dueAt: message.dueAt - (message.dueAt % 10),
  })),
  changeBody('parses the body and writes it anew', (body) => {
    try {
      return JSON.stringify(JSON.parse(body))
    } catch {
      return body
    }
  }),
  changeBody('cuts bodies at 64 KB', (body) => body.slice(0, 65_536)),
  faulty('shares envelopes with who claims them', (sound) => {
    const shared = new Map<string, OutgoingMessage>()
    return {
      storeOutgoingMessages: (messages) => {
        for (const message of messages) if (!shared.has(message.rowId)) shared.set(message.rowId, message)
        return sound.storeOutgoingMessages(messages)
      },
      claimDueOutgoingMessages: async (request) => {
        const look = await sound.claimDueOutgoingMessages(request)
        const share = (claim: Claim) => ({ ...claim, envelope: shared.get(claim.rowId)?.envelope ?? claim.envelope })
        return { ...look, claims: look.claims.map(share) }
      },
    }
  }),
]
