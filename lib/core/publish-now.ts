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

/** So many rounds in a row whose first request the topic did not take end the call, whatever was not tried in them. */
const MOST_ROUNDS_IN_VAIN = 3
/** No round begins so long after the first that had failures, in milliseconds. */
const RETRY_FOR_MS = 20_000

/** Why the topic took nothing of a request, if it is the topic's fault: it will not take the next one either. */
const topicFailure = (answers: readonly PublishOutcome[]): string | undefined => {
  const failed = answers.flatMap((answer) => (answer.outcome === 'failed' ? [answer] : []))
  return failed.length < answers.length ? undefined : failed.find(({ blames }) => blames === 'topic')?.reason
}

/**
 * Publishes messages that are not delayed, in batches, each tried three times. One result per message, in order.
 * A repeat carries the same id, so a receiver that remembers ids sees the message once.
 *
 * A round ends at the first request that the topic fails, so that a topic that hangs costs three time-outs, however many
 * messages there are. What was not tried goes first in the next round: a request that alone fails so holds up no other.
 */
export const publishNow = async (
  envelopes: readonly Envelope[],
  settings: BusSettings,
): Promise<readonly PublishResult[]> => {
  const { transport, clock, observe } = settings
  const outcomes: PublishOutcome[] = envelopes.map(() => missingAnswer)
  // A message is tried alone once the request that it was in has been refused whole.
  let open = envelopes.map((envelope, index) => {
    return { index, tries: 0, alone: false, bytes: estimateWireBytes(envelope), envelope }
  })
  const note = (item: { readonly index: number; readonly tries: number }, answer: PublishOutcome) => {
    outcomes[item.index] = item.tries === 0 ? answer : rememberUnsure(outcomes[item.index], answer)
  }
  let inVain = 0
  let lastRoundBefore: number | undefined
  for (let round = 0; open.length > 0; round++) {
    const again: typeof open = []
    let rest = open
    let down: string | undefined
    inVain++
    while (rest.length > 0 && down === undefined) {
      const batch = packBatch(rest, transport.limits)
      rest = rest.slice(batch.length)
      const answers = await publishSafely((publications) => transport.publish(publications), batch)
      down = topicFailure(answers)
      if (down === undefined) inVain = 0
      for (const [position, item] of batch.entries()) {
        const answer = answers[position] ?? missingAnswer
        const isSplit = answer.outcome === 'failed' && answer.blames === 'request' && batch.length > 1
        // Until it went alone, nothing is known against it.
        note(item, isSplit ? { ...answer, blames: 'passing' } : answer)
        if (answer.outcome === 'published') {
          observe({ type: 'sent', messageId: item.envelope.messageId, name: item.envelope.name })
        } else if (
          isSplit ||
          (answer.blames !== 'message' && answer.blames !== 'request' && item.tries < RETRY_AFTER_MS.length)
        ) {
          again.push({ ...item, tries: item.tries + 1, alone: item.alone || isSplit })
        }
      }
    }
    if (down !== undefined)
      for (const item of rest) note(item, { outcome: 'failed', blames: 'topic', published: 'no', reason: down })
    open = [...rest, ...again]
    lastRoundBefore ??= clock.now() + RETRY_FOR_MS
    if (inVain >= MOST_ROUNDS_IN_VAIN || clock.now() >= lastRoundBefore) break
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
