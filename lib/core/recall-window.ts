import { checkKnown } from './check-known.js'
import { describeValue } from './describe-value.js'
import { PostdateError } from './errors.js'
import { type Duration, durationMs } from './schedule/duration.js'

/** When recalls are refused without a look at the store: at most one of the two. */
export type RecallWindow =
  /** So long before a message is due, its recall closes: what comes later is refused. */
  | { readonly closesBeforeDue: Duration; readonly closesAfterDue?: never }
  /** So long after a message was due, its recall closes. */
  | { readonly closesAfterDue: Duration; readonly closesBeforeDue?: never }

/** Which recalls a bus takes: none, or those until so long after the due instant (negative: before it), in milliseconds. */
export type RecallRules = 'off' | { readonly untilMs: number }

const FORMS = ['closesBeforeDue', 'closesAfterDue'] as const

/**
 * Reads the bus option.
 * @throws PostdateError `options.invalid`, `options.unknown`
 */
export const readRecallRules = (recall: boolean | RecallWindow): RecallRules => {
  const refuse = (option: string, value: unknown, rule: string) =>
    new PostdateError('options.invalid', { option, value: describeValue(value), rule })
  if (recall === false) return 'off'
  if (recall === true) return { untilMs: Number.POSITIVE_INFINITY }
  if (typeof recall !== 'object' || recall === null) throw refuse('recall', recall, 'it must be a boolean or a window')
  checkKnown(recall, FORMS)
  const [form, ...others] = FORMS.filter((name) => name in recall)
  if (form === undefined || others.length > 0) throw refuse('recall', recall, `it must have one of ${FORMS.join(', ')}`)
  const ms = durationMs(`recall.${form}`, recall[form], refuse)
  return { untilMs: form === 'closesBeforeDue' ? -ms : ms }
}
