import { type Envelope, toJsonText, utf8Bytes } from './envelope.js'
import type { TransportLimits } from './transport.js'

/** The attribute names, types, and the `delivery` attribute of a wire message, in bytes, rounded up. */
const FIXED_BYTES = 300

/**
 * An upper bound of a message's bytes on the wire, from the bytes of its stored envelope; cheap, since a claim knows them.
 */
export const estimateStoredBytes = (
  storedBytes: number,
  { messageId, name, correlationId }: Pick<Envelope, 'messageId' | 'name' | 'correlationId'>,
  target = '',
): number => {
  // Ids of ours are plain letters, but those of senders in other languages may be anything.
  const identity = utf8Bytes(messageId) + utf8Bytes(name) * 2 + utf8Bytes(target) + utf8Bytes(correlationId)
  return storedBytes + identity + FIXED_BYTES
}

/** An upper bound of a message's bytes on the wire. */
export const estimateWireBytes = (envelope: Envelope): number => {
  const { body, attributes, stickyAttributes, headers, key = null, failure = null } = envelope
  const meta = toJsonText([attributes, stickyAttributes, headers, key, failure])
  return estimateStoredBytes(utf8Bytes(body) + utf8Bytes(meta), envelope)
}

/**
 * The next batch: as many items from the front as fit the limits, at least one. An item that is to go alone never shares a
 * batch.
 */
export const packBatch = <T extends { readonly bytes: number; readonly alone: boolean }>(
  items: readonly T[],
  limits: TransportLimits,
): readonly T[] => {
  const batch: T[] = []
  let bytes = 0
  for (const item of items) {
    if (batch.length >= limits.maxBatchMessages) break
    if (batch.length > 0 && (item.alone || bytes + item.bytes > limits.maxBatchBytes)) break
    batch.push(item)
    bytes += item.bytes
    if (item.alone) break
  }
  return batch
}
