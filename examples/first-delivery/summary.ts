import type { Line } from './lines.js'

/** What the run came to; the example succeeds when early, lost and duplicates are 0 and received is expected. */
export interface Summary {
  readonly sent: number
  readonly expected: number
  readonly received: number
  readonly early: number
  readonly lost: number
  readonly duplicates: number
  /** Over rows scheduled at least two seconds ahead: how long after its instant the handler was called. */
  readonly latenessP50Ms: number
  readonly latenessP99Ms: number
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

/** Compares what was asked for with what arrived. */
export const summarize = (lines: readonly Line[]): Summary => {
  const expected = expectedOf(lines)
  const arrivals = only(lines, 'received')
  const firstById = new Map<string, number>()
  for (const { messageId, receivedAt } of arrivals) {
    if (!firstById.has(messageId)) firstById.set(messageId, receivedAt)
  }
  const latenessOf = ({ messageId, askedAt }: Of<'scheduled'>) => {
    const receivedAt = firstById.get(messageId)
    return receivedAt === undefined ? undefined : receivedAt - askedAt
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
    early: expected.filter((line) => (latenessOf(line) ?? 0) < 0).length,
    lost: expected.filter((line) => latenessOf(line) === undefined).length,
    duplicates: arrivals.length - firstById.size + unexpected.length,
    latenessP50Ms: percentile(lateness, 0.5),
    latenessP99Ms: percentile(lateness, 0.99),
  }
}

/** Whether every expected message arrived, once and not early. */
export const isGood = ({ expected, received, early, lost, duplicates }: Summary): boolean =>
  received === expected && early === 0 && lost === 0 && duplicates === 0
