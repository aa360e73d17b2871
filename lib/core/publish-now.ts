import { sleepUntil } from './clock.js'
import type { Envelope } from './envelope.js'
import { PostdateError, reasonOf } from './errors.js'
import { estimateWireBytes, packBatch } from './packing.js'
import type { BusSettings } from './settings.js'
import type { Publication, PublishOutcome, Transport } from './transport.js'

/** What became of an immediate publication. */
export type PublishResult = { readonly ok: true } | { readonly ok: false; readonly error: PostdateError }

/** Waits before the second and the third try, in milliseconds. */
const RETRY_AFTER_MS = [100, 400]

/**
 * Publishes messages that are not delayed, in batches, each tried three times. One result per message, in order.
 * A repeat carries the same id, so a receiver that remembers ids sees the message once.
 */
export const publishNow = async (
  envelopes: readonly Envelope[],
  settings: BusSettings,
): Promise<readonly PublishResult[]> => {
  const { transport, clock, observe } = settings
  const outcomes: PublishOutcome[] = envelopes.map(() => missingAnswer)
  // A message is tried alone once the request that it was in has been refused whole.
  let open = envelopes.map((envelope, index) => ({ index, alone: false, bytes: estimateWireBytes(envelope), envelope }))
  for (let round = 0; open.length > 0; round++) {
    const again: typeof open = []
    let rest = open
    while (rest.length > 0) {
      const batch = packBatch(rest, transport.limits)
      rest = rest.slice(batch.length)
      const answers = await publishSafely((publications) => transport.publish(publications), batch)
      for (const [position, item] of batch.entries()) {
        const answer = answers[position] ?? missingAnswer
        outcomes[item.index] = round === 0 ? answer : rememberUnsure(outcomes[item.index], answer)
        if (answer.outcome === 'published') {
          observe({ type: 'sent', messageId: item.envelope.messageId, name: item.envelope.name })
        } else if (
          answer.blames === 'request' ? batch.length > 1 : answer.blames !== 'message' && round < RETRY_AFTER_MS.length
        ) {
          again.push({ ...item, alone: item.alone || answer.blames === 'request' })
        }
      }
    }
    open = again
    const waitMs = RETRY_AFTER_MS[Math.min(round, RETRY_AFTER_MS.length - 1)] ?? 0
    if (open.length > 0) await sleepUntil(clock, clock.now() + waitMs)
  }
  return envelopes.map(({ messageId }, index) => {
    const answer = outcomes[index] ?? missingAnswer
    if (answer.outcome === 'published') return { ok: true }
    const { reason, published } = answer
    // What may have gone out in an earlier try is unsure, whatever the last one says.
    const isRefusal = published === 'no' && (answer.blames === 'message' || answer.blames === 'request')
    const error = isRefusal
      ? new PostdateError('transport.refused', { transport: transport.name, messageId, reason })
      : new PostdateError('transport.unavailable', { transport: transport.name, messageId, reason, published })
    return { ok: false, error }
  })
}

/** A try that surely failed says nothing of the one before it. */
const rememberUnsure = (before: PublishOutcome | undefined, answer: PublishOutcome): PublishOutcome =>
  before?.outcome === 'failed' && answer.outcome === 'failed' && before.published === 'perhaps'
    ? { ...answer, published: 'perhaps' }
    : answer

const missingAnswer: PublishOutcome = {
  outcome: 'failed',
  blames: 'passing',
  published: 'perhaps',
  reason: 'the transport gave no outcome for it',
}

/** Publishes a batch on a transport that may break its word: throw, or leave outcomes out. One outcome per message. */
export const publishSafely = async (
  publish: Transport['publish'],
  batch: readonly { readonly envelope: Envelope; readonly delivery?: Publication['delivery'] }[],
): Promise<readonly PublishOutcome[]> => {
  try {
    const outcomes = await publish(batch.map(({ envelope, delivery = { attempt: 1 } }) => ({ envelope, delivery })))
    return batch.map((_, index) => outcomes[index] ?? missingAnswer)
  } catch (error) {
    return batch.map(() => ({ outcome: 'failed', blames: 'topic', published: 'perhaps', reason: reasonOf(error) }))
  }
}
