import type { Clock } from '../clock.js'
import type { ClaimRequest, ClaimResult, DelayingPersistence } from '../persistence.js'

/** How long a dispatcher trusts what it has read of the pause, in milliseconds: a pause holds everywhere after that. */
const TRUSTED_MS = 5_000

const NOTHING: ClaimResult = { claims: [], nextDueAt: undefined, more: false }

/**
 * Claims, unless dispatching is paused: then there is nothing to claim, as far as the dispatcher knows. What it holds already
 * goes out. Where the pause can't be read, what was known of it stays.
 */
export const createPausableClaim = (persistence: DelayingPersistence, clock: Clock) => {
  const { coordination } = persistence
  let known = { paused: false, readAt: Number.NEGATIVE_INFINITY }

  const isPaused = async (): Promise<boolean> => {
    const now = clock.now()
    if (now >= known.readAt && now < known.readAt + TRUSTED_MS) return known.paused
    try {
      const { paused } = (await coordination?.readPause?.()) ?? { paused: false }
      known = { paused, readAt: now }
    } catch {
      // The claim meets the same store, and its error is told.
    }
    return known.paused
  }

  return async (request: ClaimRequest): Promise<ClaimResult> =>
    coordination?.readPause !== undefined && (await isPaused())
      ? NOTHING
      : persistence.claimDueOutgoingMessages(request)
}
