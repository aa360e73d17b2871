import type { Line } from './lines.js'

/** What was asked for in one form, and what came; times in milliseconds. */
export interface FormSummary {
  readonly form: string
  readonly sent: number
  readonly received: number
  /** How far ahead its first message was asked for. */
  readonly askedAheadMs: number
  /** From the instants asked for to those that the receipts promise, at most; never below 0. */
  readonly promisedAfterAskedMs: number
  /** From the instants asked for to the calls of the handler, at least and at most; never below 0. */
  readonly receivedAfterAskedMs: readonly [least: number, most: number]
}

/** What the run came to; the example succeeds when early, lost and duplicates are 0 and received is expected. */
export interface Summary {
  readonly sent: number
  readonly expected: number
  readonly received: number
  readonly early: number
  readonly lost: number
  readonly duplicates: number
  /** Recalls that withdrew their message. It never arrives, and is not expected. */
  readonly recalledInTime: number
  /** Recalls that answered that it was too late. Their message arrives. */
  readonly recalledTooLate: number
  /** Over rows scheduled at least two seconds ahead: how long after its instant the handler was called. */
  readonly latenessP50Ms: number
  readonly latenessP99Ms: number
  /** Asked for and received, form by form, in the order in which they were sent. */
  readonly forms: readonly FormSummary[]
}

/** Rows that were scheduled at least this far ahead count for the lateness: nearer ones may have missed a poll. */
const AHEAD_MS = 2_000

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN

type Of<E extends Line['event']> = Extract<Line, { readonly event: E }>

const only = <E extends Line['event']>(lines: readonly Line[], event: E) =>
  lines.filter((line): line is Of<E> => line.event === event)

/** The messages that were to arrive: all but those that a recall has withdrawn. */
export const expectedOf = (lines: readonly Line[]): readonly Of<'scheduled'>[] => {
  const recalled = new Set(only(lines, 'recalled').flatMap((line) => (line.outcome === 'recalled' ? line.number : [])))
  return only(lines, 'scheduled').filter(({ number }) => !recalled.has(number))
}

const summarizeForms = (
  expected: readonly Of<'scheduled'>[],
  firstById: ReadonlyMap<string, number>,
): readonly FormSummary[] =>
  [...new Set(expected.map(({ form }) => form))].map((form) => {
    const lines = expected.filter((line) => line.form === form)
    const after = lines.flatMap(({ messageId, askedAt }) => {
      const receivedAt = firstById.get(messageId)
      return receivedAt === undefined ? [] : [receivedAt - askedAt]
    })
    return {
      form,
      sent: lines.length,
      received: after.length,
      askedAheadMs: lines[0]?.aheadMs ?? Number.NaN,
      promisedAfterAskedMs: Math.max(...lines.map(({ dueAt, askedAt }) => dueAt - askedAt)),
      receivedAfterAskedMs: [Math.min(...after), Math.max(...after)],
    }
  })

/** Compares what was asked for with what arrived. */
export const summarize = (lines: readonly Line[]): Summary => {
  const expected = expectedOf(lines)
  const arrivals = only(lines, 'received')
  const firstById = new Map<string, number>()
  for (const { messageId, receivedAt } of arrivals) {
    if (!firstById.has(messageId)) firstById.set(messageId, receivedAt)
  }
  const latenessOf = ({ messageId, dueAt }: Of<'scheduled'>) => {
    const receivedAt = firstById.get(messageId)
    return receivedAt === undefined ? undefined : receivedAt - dueAt
  }
  const lateness = expected
    .filter(({ aheadMs }) => aheadMs >= AHEAD_MS)
    .flatMap((line) => latenessOf(line) ?? [])
    .sort((a, b) => a - b)
  const unexpected = [...firstById.keys()].filter((id) => !expected.some(({ messageId }) => messageId === id))
  return {
    sent: only(lines, 'scheduled').length,
    expected: expected.length,
    // One that was withdrawn and arrives all the same makes this differ from what was expected.
    received: firstById.size,
    early: expected.filter((line) => line.dueAt < line.askedAt || (latenessOf(line) ?? 0) < 0).length,
    lost: expected.filter((line) => latenessOf(line) === undefined).length,
    duplicates: arrivals.length - firstById.size + unexpected.length,
    recalledInTime: only(lines, 'recalled').filter(({ outcome }) => outcome === 'recalled').length,
    recalledTooLate: only(lines, 'recalled').filter(({ outcome }) => outcome === 'too-late').length,
    latenessP50Ms: percentile(lateness, 0.5),
    latenessP99Ms: percentile(lateness, 0.99),
    forms: summarizeForms(expected, firstById),
  }
}

/** Whether every expected message arrived, once and not early. */
export const isGood = ({ expected, received, early, lost, duplicates }: Summary): boolean =>
  received === expected && early === 0 && lost === 0 && duplicates === 0
