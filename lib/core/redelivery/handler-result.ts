import { describeValue } from '../describe-value.js'
import { PostdateError } from '../errors.js'
import { type Duration, durationMs } from '../schedule.js'

/** The package may be loaded twice, as ESM and as CommonJS: results know each other by this. */
const BRAND = Symbol.for('postdate.handler-result')

/** What a handler may return to say what becomes of its message. Anything else that it returns means `ack()`. */
export type HandlerResult =
  | { readonly [BRAND]: true; readonly result: 'ack' }
  | { readonly [BRAND]: true; readonly result: 'reject'; readonly reason: string }
  | { readonly [BRAND]: true; readonly result: 'requeue'; readonly afterMs: number }

/** The message is handled: what a handler that returns nothing says too. */
export const ack = (): HandlerResult => ({ [BRAND]: true, result: 'ack' })

/**
 * The message can never be handled: it goes to the receiver's dead letters at once, with this reason. What the handler has
 * sent goes out.
 * @param reason for who reads the dead letters; not empty
 * @throws PostdateError `options.invalid`
 * @example
 * handlerFor(ChargeCard, (charge) => (charge.amount > 0 ? ack() : reject(`the amount is ${charge.amount}`)))
 */
export const reject = (reason: string): HandlerResult => {
  if (typeof reason === 'string' && reason !== '') return { [BRAND]: true, result: 'reject', reason }
  const rule = 'it must be text that says why'
  throw new PostdateError('options.invalid', { option: 'reject(reason)', value: describeValue(reason), rule })
}

/**
 * Not now: the message comes again after this time, to this receiver alone, with the next attempt number. No failure is
 * counted, so there is no end to it: for rate limits and for what is not ready yet. What the handler has sent goes out.
 * @param options.after milliseconds, or parts, from when the handler has resolved
 * @throws PostdateError `schedule.invalid-duration`
 * @example
 * handlerFor(CallPartner, async (call) => ((await mayCall()) ? ack() : requeue({ after: { minutes: 5 } })))
 */
export const requeue = ({ after }: { readonly after: Duration }): HandlerResult => ({
  [BRAND]: true,
  result: 'requeue',
  afterMs: durationMs('requeue.after', after),
})

/** Whether a value is one of the three. */
export const isHandlerResult = (value: unknown): value is HandlerResult =>
  typeof value === 'object' && value !== null && BRAND in value
