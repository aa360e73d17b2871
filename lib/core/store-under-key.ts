import type { Announce } from './announcing.js'
import { PostdateError } from './errors.js'
import { formatHandle } from './handle.js'
import type { AskedKey, KeyedOutcome } from './keys.js'
import type { OutgoingMessage, RowAddress } from './persistence.js'
import { askStore } from './recalling.js'
import type { DeliveryResult, PreparedMessage, Receipt } from './receipt.js'
import type { BusSettings } from './settings.js'

/** A prepared message with a key. */
interface Keyed extends PreparedMessage {
  readonly row: OutgoingMessage
  readonly asked: AskedKey
}

/** Whether a message goes under a key. */
export const isKeyed = (message: PreparedMessage): message is Keyed =>
  message.row !== undefined && message.asked !== undefined

/** Keys that are stored under at once. */
const MOST_AT_ONCE = 16

/**
 * Makes what stores messages under their keys. Those of one key are stored one after the other, in order. One result per
 * message, in order.
 */
export const createKeyedStore = (settings: BusSettings, announce: Announce) => {
  const { name: bus, persistence, clock, observe } = settings

  const receiptAt = (address: RowAddress): Receipt => ({
    status: 'scheduled',
    messageId: address.rowId,
    dueAt: address.dueAt,
    recallHandle: formatHandle({ bus, ...address }),
  })

  const stored = async ({ envelope }: Keyed, address: RowAddress): Promise<DeliveryResult> => {
    observe({ type: 'scheduled', messageId: envelope.messageId, name: envelope.name, dueAt: address.dueAt })
    await announce([address])
    return { ok: true, receipt: receiptAt(address) }
  }

  const kept = ({ envelope: { name }, asked }: Keyed, address: RowAddress): DeliveryResult => {
    const { rowId: messageId, dueAt } = address
    const receipt = receiptAt(address)
    if (asked.ifScheduled === 'reject')
      return { ok: false, error: new PostdateError('key.taken', { key: asked.key, messageId, dueAt }) }
    observe({ type: 'kept', messageId, name })
    return { ok: true, receipt: { ...receipt, duplicate: true } }
  }

  const judge = async (message: Keyed, found: KeyedOutcome, repeated: 'own' | 'derived'): Promise<DeliveryResult> => {
    const { messageId, name } = message.envelope
    const about = { messageId, dueAt: message.row.dueAt }
    switch (found.outcome) {
      case 'stored':
        if (found.replaced !== undefined) observe({ type: 'replaced', messageId: found.replaced.rowId, by: messageId })
        return stored(message, found.address)
      case 'duplicate':
        return stored(message, found.address)
      case 'kept':
        return kept(message, found.address)
      case 'recalled':
        if (repeated === 'own') return { ok: false, error: new PostdateError('message.recalled', about) }
        observe({ type: 'send-stayed-recalled', messageId, name })
        return { ok: true }
      case 'conflict':
        return { ok: false, error: new PostdateError('message.id-conflict', about) }
      case 'failed':
        return { ok: false, error: found.error }
    }
  }

  const storeOne = async (message: Keyed, repeated: 'own' | 'derived'): Promise<DeliveryResult> => {
    const { row, asked } = message
    const { keys, name } = persistence
    if (keys === undefined)
      return { ok: false, error: new PostdateError('persistence.keys-not-supported', { persistence: name }) }
    const ifScheduled = asked.ifScheduled === 'reject' ? 'keep' : asked.ifScheduled
    try {
      const found = await askStore(settings, 'store a message under its key', () =>
        keys.storeUnderKey({ ...row, key: asked.key }, ifScheduled, clock.now()),
      )
      return await judge(message, found, repeated)
    } catch (error) {
      return { ok: false, error: error as PostdateError }
    }
  }

  return async (messages: readonly Keyed[], repeated: 'own' | 'derived'): Promise<readonly DeliveryResult[]> => {
    const results = new Map<Keyed, DeliveryResult>()
    const byKey = new Map<string, Keyed[]>()
    for (const message of messages) {
      const { key } = message.asked
      byKey.set(key, [...(byKey.get(key) ?? []), message])
    }
    const groups = byKey.values()
    const runLane = async () => {
      for (const group of groups) for (const message of group) results.set(message, await storeOne(message, repeated))
    }
    await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, byKey.size) }, runLane))
    return messages.flatMap((message) => results.get(message) ?? [])
  }
}
