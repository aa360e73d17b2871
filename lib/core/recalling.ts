import type { RecallResult } from './context.js'
import { isPostdateError, PostdateError, reasonOf } from './errors.js'
import { parseHandle } from './handle.js'
import { checkKey } from './keys.js'
import { LEASE_MARGIN_MS } from './lease.js'
import type { RecallOutcome, RowAddress } from './persistence.js'
import type { BusSettings } from './settings.js'

/** Asks the persistence; what it throws becomes a typed error. @throws PostdateError `persistence.*` */
export const askStore = async <T>(
  { persistence }: Pick<BusSettings, 'persistence'>,
  operation: string,
  ask: () => Promise<T>,
): Promise<T> => {
  try {
    return await ask()
  } catch (cause) {
    if (isPostdateError(cause)) throw cause
    const details = { persistence: persistence.name, operation, reason: reasonOf(cause) }
    throw new PostdateError('persistence.unavailable', details, cause)
  }
}

/**
 * Reads a handle of this bus.
 * @throws PostdateError `recall.malformed-handle`, `recall.other-bus`
 */
export const readOwnHandle = (handle: unknown, { name }: Pick<BusSettings, 'name'>): RowAddress => {
  const { bus, ...address } = parseHandle(handle)
  if (bus !== name) throw new PostdateError('recall.other-bus', { bus: name, handleBus: bus })
  // Copies for one receiver have no public handle: what they repeat has been delivered.
  if (address.rowId.includes('~'))
    throw new PostdateError('recall.malformed-handle', { rule: 'it is that of a copy for redelivery' })
  return address
}

/**
 * While a call was on its way, or by a dispatcher whose clock is ahead of ours, the message may have been delivered and its
 * row removed (the simulation found both). Close to its instant, what is not found may have been delivered.
 */
export const truthNow = <O extends string>(found: O, dueAt: number, now: number): O | 'too-late' =>
  found === 'not-found' && dueAt <= now + LEASE_MARGIN_MS ? 'too-late' : found

/** Refuses what the bus option `recall` does not allow. @throws PostdateError `recall.switched-off` */
export const checkRecallOn = ({ name, recall }: Pick<BusSettings, 'name' | 'recall'>): void => {
  if (recall === 'off') throw new PostdateError('recall.switched-off', { bus: name })
}

const checkWindow = ({ recall, clock }: BusSettings, { rowId, dueAt }: RowAddress): void => {
  const closedAt = recall === 'off' ? dueAt : dueAt + recall.untilMs
  const now = clock.now()
  if (now > closedAt) throw new PostdateError('recall.window-closed', { messageId: rowId, dueAt, closedAt, now })
}

/** Withdraws the message of an address. @throws PostdateError as `bus.recall`, except for what lies in the handle */
export const recallAddress = async (settings: BusSettings, address: RowAddress): Promise<RecallResult> => {
  const { persistence, clock, observe } = settings
  const { rowId: messageId, dueAt } = address
  checkRecallOn(settings)
  checkWindow(settings, address)
  if (persistence.recallOutgoingMessage === undefined)
    throw new PostdateError('persistence.recall-not-supported', { persistence: persistence.name })
  const found = await askStore(
    settings,
    `recall ${messageId}`,
    async () => (await persistence.recallOutgoingMessage?.(address, clock.now())) ?? 'not-found',
  )
  const outcome = truthNow(found, dueAt, clock.now())
  observe({ type: 'recalled', messageId, outcome })
  return { outcome, messageId, dueAt }
}

/** Makes the recall of a bus. */
export const createRecall =
  (settings: BusSettings) =>
  async (recallHandle: string): Promise<RecallResult> =>
    recallAddress(settings, readOwnHandle(recallHandle, settings))

/** What a recall by key answers. */
export interface KeyRecallResult {
  /** `not-found`: nothing is scheduled under the key. */
  readonly outcome: RecallOutcome
  /** The message that was found; absent when there was none. */
  readonly messageId?: string
  /** Epoch milliseconds; absent when there was none. */
  readonly dueAt?: number
}

/** How often the key is looked up again when its message was replaced meanwhile. */
const MOST_LOOKS = 20

/** Makes the recall by key of a bus. */
export const createRecallByKey = (settings: BusSettings) => {
  const { persistence } = settings
  const { keys } = persistence

  return async (key: string): Promise<KeyRecallResult> => {
    checkKey(key)
    checkRecallOn(settings)
    if (keys === undefined) throw new PostdateError('persistence.keys-not-supported', { persistence: persistence.name })
    const find = () => askStore(settings, 'look up a key', () => keys.findKey(key))
    let address = await find()
    let result: KeyRecallResult = { outcome: 'not-found' }
    for (let looks = 0; looks < MOST_LOOKS && address !== undefined; looks++) {
      result = await recallAddress(settings, address)
      if (result.outcome !== 'already-recalled') return result
      // It may have given way to another message at this very moment, which then is the one that is meant.
      const found = await find()
      if (found === undefined || (found.rowId === address.rowId && found.dueAt === address.dueAt)) return result
      address = found
    }
    return result
  }
}
