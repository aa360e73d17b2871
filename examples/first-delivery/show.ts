import type { Line } from './lines.js'
import type { FormSummary, Summary } from './summary.js'

/** How the run is shown: for people, or one JSON object a line. */
export interface Show {
  progress(text: string): void
  line(line: Line): void
  summary(summary: Summary, isGood: boolean): void
}

const clockTime = (at: number) => new Date(at).toISOString().slice(11, 23)

const asText = (line: Line, dueAtOf: (messageId: string) => number | undefined): string | undefined => {
  if (line.event === 'scheduled') {
    // In a handler a receipt says `buffered` for both: what is for later, and what goes out when the handler has resolved.
    const what = (line.isAtOnce ? line.status : 'scheduled').padEnd(9)
    const when = line.isAtOnce ? 'at once         ' : `for ${clockTime(line.dueAt)}`
    return `  ${what}  #${String(line.number).padEnd(3)} ${when}  ${line.form}`
  }
  if (line.event === 'recalled') return `  recall     #${String(line.number).padEnd(3)} ${line.outcome}`
  if (line.event === 'received') {
    const dueAt = dueAtOf(line.messageId)
    const due = dueAt === undefined ? '' : `due at ${clockTime(dueAt)}, ${line.receivedAt - dueAt} ms late`
    return `  arrived    #${String(line.number).padEnd(3)} at  ${clockTime(line.receivedAt)}  ${due} (${line.process})`
  }
  return undefined
}

const HEADINGS = ['form', 'sent', 'received', 'asked for', 'promised', 'received after it was asked for']

const cellsOf = (summary: FormSummary): readonly string[] => {
  const { form, sent, received, askedAheadMs, promisedAfterAskedMs, receivedAfterAskedMs } = summary
  const [least, most] = receivedAfterAskedMs
  const after = least === most ? `+${least} ms` : `+${least} to +${most} ms`
  return [form, `${sent}`, `${received}`, `in ${askedAheadMs} ms`, `+${promisedAfterAskedMs} ms`, after]
}

/** What was asked for and what came, form by form, in columns. */
const tableOf = (forms: readonly FormSummary[]): string => {
  const rows = [HEADINGS, ...forms.map(cellsOf)]
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)))
  const lineOf = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return rows.map((cells) => `  ${lineOf(cells).trimEnd()}`).join('\n')
}

const LEGEND = `  asked for: how far ahead the first one of the form was to be delivered, when it was sent
  promised: how much later the receipt says: the way to where a delay is counted, and what spread chose within its 2 s
  received: from the instant asked for to the call of the handler; it takes in what spread added`

/** Messages that one call sent are a line each when the last one was sent, and when the last one has arrived. */
const foldTogether = () => {
  const together = new Map<string, { readonly of: number; readonly first: number; sent: number; arrived: number }>()
  const span = ({ first, of }: { readonly first: number; readonly of: number }) => `#${first} to #${first + of - 1}`
  /** The text instead of a line; empty for none; `undefined` for a line that stands for itself. */
  return (line: Line): string | undefined => {
    if (line.event !== 'scheduled' && line.event !== 'received') return undefined
    if (line.event === 'scheduled' && line.together !== undefined && !together.has(line.form))
      together.set(line.form, { of: line.together, first: line.number, sent: 0, arrived: 0 })
    const seen = together.get(line.form)
    if (seen === undefined) return undefined
    if (line.event === 'scheduled')
      return ++seen.sent === seen.of
        ? `  scheduled  ${span(seen)}, the last for ${clockTime(line.dueAt)}  ${line.form}`
        : ''
    return ++seen.arrived === seen.of ? `  arrived    ${span(seen)}, the last at ${clockTime(line.receivedAt)}` : ''
  }
}

/** Shows the run to a person. @param verbose also each of the messages that were sent together */
export const showText = (verbose = false): Show => {
  const dueAts = new Map<string, number>()
  const fold = verbose ? () => undefined : foldTogether()
  return {
    progress: (text) => console.log(text),
    line: (line) => {
      if (line.event === 'scheduled') dueAts.set(line.messageId, line.dueAt)
      const text = fold(line) ?? asText(line, (messageId) => dueAts.get(messageId))
      if (text !== undefined && text !== '') console.log(text)
    },
    summary: (summary, isGood) => {
      const { sent, expected, received, early, lost, duplicates, latenessP50Ms, latenessP99Ms } = summary
      console.log(`\n${tableOf(summary.forms)}\n\n${LEGEND}`)
      console.log(
        `\n${sent} sent, ${expected} expected, ${received} received: ${early} early, ${lost} lost, ${duplicates} double`,
      )
      console.log(`taken back: ${summary.recalledInTime} in time, ${summary.recalledTooLate} too late`)
      console.log(
        `lateness of what was scheduled 2 s ahead or more: median ${latenessP50Ms} ms, p99 ${latenessP99Ms} ms`,
      )
      console.log(isGood ? 'Every message arrived once, and none early.' : 'NOT as promised: see the numbers above.')
    },
  }
}

/** Shows the run to a program. */
export const showJson = (): Show => ({
  progress: (text) => console.log(JSON.stringify({ event: 'progress', text })),
  line: (line) => console.log(JSON.stringify(line)),
  summary: (summary) => console.log(JSON.stringify({ summary })),
})
