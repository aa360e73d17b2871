import { PostdateError } from '../errors.js'
import { hashText } from '../ids.js'

/** What a sender asked for, in numbers. */
export interface AskedSchedule {
  /** The instant that was asked for, epoch milliseconds; `undefined` for at once. It may have passed. */
  readonly askedAt: number | undefined
  /** How far after it the message may be due, in milliseconds. */
  readonly spreadMs: number
  /** How long after its due instant the message is worth delivering, in milliseconds; `undefined` for always. */
  readonly discardAfterMs: number | undefined
}

/** The next instant (epoch milliseconds) that is a multiple of the resolution; that instant itself, if it is one. */
export const roundUp = (at: number, resolutionMs: number): number => {
  const over = at % resolutionMs
  return over <= 0 ? at - over : at - over + resolutionMs
}

const HASH_DIGITS = 12
const HASHES = 16 ** HASH_DIGITS

/** A number from 0 to below 1, the same for an id every time. Its hash is another than that which chooses the shard. */
const shareOf = (messageId: string): number =>
  Number.parseInt(hashText(`spread ${messageId}`).slice(0, HASH_DIGITS), 16) / HASHES

/** A stable pseudo-random instant from `askedAt` to `askedAt + spreadMs`, on the grid of the resolution if any of it lies there. */
const spreadPoint = (askedAt: number, spreadMs: number, messageId: string, resolutionMs: number): number => {
  const first = roundUp(askedAt, resolutionMs)
  const points = Math.max(1, Math.floor((askedAt + spreadMs - first) / resolutionMs) + 1)
  return first + Math.floor(shareOf(messageId) * points) * resolutionMs
}

/**
 * When a message is due, epoch milliseconds: spread by its id, and rounded up to the resolution; `undefined` for at once.
 * What has passed already goes at once, unless it is not worth delivering any more.
 * @throws PostdateError `schedule.already-expired`
 */
export const settleDueAt = (
  { askedAt, spreadMs, discardAfterMs }: AskedSchedule,
  messageId: string,
  now: number,
  resolutionMs: number,
): number | undefined => {
  if (askedAt === undefined) return undefined
  const point = spreadMs === 0 ? askedAt : spreadPoint(askedAt, spreadMs, messageId, resolutionMs)
  if (point > now) return roundUp(point, resolutionMs)
  if (discardAfterMs !== undefined && point + discardAfterMs < now)
    throw new PostdateError('schedule.already-expired', { dueAt: point, discardAfterMs, now })
  return undefined
}
