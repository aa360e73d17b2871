import { HINT_WITHIN_MS } from '../core/transport.js'

/** A hint is visible this long before the row is due, and less than a second more. */
const HINT_LEAD_MS = 1000

/**
 * The `DelaySeconds` that make a hint visible one to two seconds before a row is due: SQS delays by whole seconds, so
 * exactly one such number exists. 0 when less than two seconds are left, also when the row is due already; `undefined`
 * when it is due so late that it needs no hint.
 * @param dueAt epoch milliseconds
 * @param now epoch milliseconds
 */
export const hintDelaySeconds = (dueAt: number, now: number): number | undefined =>
  dueAt - now > HINT_WITHIN_MS ? undefined : Math.max(0, Math.floor((dueAt - now - HINT_LEAD_MS) / 1000))

/**
 * Whether a hint that becomes visible at `visibleAt` also serves a row due at `dueAt`: it is still ahead, so the look that
 * it causes comes after the row was stored, and it is visible one to two seconds before the row is due, so that look (2.5
 * seconds wide) reaches the row. Rows of one second are not enough: two hints of it can be a second apart, and the row of
 * the later one is up to three seconds away from the earlier one.
 */
export const hintServes = (visibleAt: number, dueAt: number, now: number): boolean =>
  visibleAt > now && visibleAt <= dueAt - HINT_LEAD_MS && visibleAt > dueAt - HINT_LEAD_MS - 1000
