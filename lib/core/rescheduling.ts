import type { Announce } from './announcing.js'
import { checkKnown } from './check-known.js'
import { describeValue } from './describe-value.js'
import { PostdateError } from './errors.js'
import { formatHandle } from './handle.js'
import type { RowAddress } from './persistence.js'
import { askStore, readOwnHandle, truthNow } from './recalling.js'
import { settleDueAt } from './schedule/due-instant.js'
import { readSchedule, SCHEDULE_FORMS, type ScheduleForm } from './schedule.js'
import type { BusSettings } from './settings.js'

/** The instant that a message is moved to: one schedule form. */
export type When = ScheduleForm

/** What became of a message that was to be delivered at another time. */
export interface RescheduleResult {
  /**
   * `rescheduled`: it will be delivered then. `possibly-delivered`: so it will, but an earlier try to publish it may have gone
   * out. Otherwise nothing was moved: it is being delivered or was (`too-late`), was withdrawn (`recalled`), was given up on
   * (`dead`), or nothing is stored under this handle (`not-found`).
   */
  readonly outcome: 'rescheduled' | 'possibly-delivered' | 'too-late' | 'recalled' | 'dead' | 'not-found'
  readonly messageId: string
  /** When it will be delivered now, epoch milliseconds; where nothing was moved, that of the handle. */
  readonly dueAt: number
  /** Leads to it, as all its earlier handles do; absent where nothing was moved. */
  readonly recallHandle?: string
}

/** Moves messages that are scheduled. */
export interface Rescheduling {
  reschedule(recallHandle: string, when: When): Promise<RescheduleResult>
  deliverNow(recallHandle: string): Promise<RescheduleResult>
}

/**
 * Reads the instant that a message is to be moved to, epoch milliseconds; one that has passed is now.
 * @throws PostdateError `options.invalid`, `options.unknown`, `schedule.*`
 */
export const readWhen = (when: unknown, messageId: string, now: number, { schedule }: BusSettings): number => {
  if (typeof when !== 'object' || when === null)
    throw new PostdateError('options.invalid', {
      option: 'when',
      value: describeValue(when),
      rule: `it must be an object with one of ${SCHEDULE_FORMS.join(', ')}`,
    })
  checkKnown(when, SCHEDULE_FORMS)
  const asked = readSchedule(when, now, schedule)
  if (asked.askedAt === undefined) {
    const rule = `it must have one of ${SCHEDULE_FORMS.join(', ')}; deliverNow sends at once`
    throw new PostdateError('options.invalid', { option: 'when', value: describeValue(when), rule })
  }
  return settleDueAt(asked, messageId, now, schedule.resolutionMs) ?? now
}

/** Makes what moves the messages of a bus. `announce` is told of rows that have moved. */
export const createRescheduling = (settings: BusSettings, announce: Announce): Rescheduling => {
  const { name: bus, persistence, clock, observe } = settings

  const moveTo = async (address: RowAddress, dueAt: number, now: number): Promise<RescheduleResult> => {
    const { rowId: messageId } = address
    if (persistence.rescheduleOutgoingMessage === undefined)
      throw new PostdateError('persistence.reschedule-not-supported', { persistence: persistence.name })
    const found = await askStore(
      settings,
      `reschedule ${messageId}`,
      async () =>
        (await persistence.rescheduleOutgoingMessage?.(address, dueAt, now)) ?? ({ outcome: 'not-found' } as const),
    )
    if (!('address' in found)) {
      const outcome = truthNow(found.outcome, address.dueAt, clock.now())
      observe({ type: 'rescheduled', messageId, outcome })
      return { outcome, messageId, dueAt: address.dueAt }
    }
    observe({ type: 'rescheduled', messageId, outcome: found.outcome, dueAt: found.address.dueAt })
    await announce([found.address])
    const recallHandle = formatHandle({ bus, ...found.address })
    return { outcome: found.outcome, messageId, dueAt: found.address.dueAt, recallHandle }
  }

  return {
    reschedule: async (recallHandle, when) => {
      const address = readOwnHandle(recallHandle, settings)
      const now = clock.now()
      return moveTo(address, readWhen(when, address.rowId, now, settings), now)
    },
    deliverNow: async (recallHandle) => {
      const now = clock.now()
      return moveTo(readOwnHandle(recallHandle, settings), now, now)
    },
  }
}
