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
    const what = line.status === 'sent' ? 'sent     ' : 'scheduled'
    return `  ${what}  #${String(line.number).padEnd(3)} for ${clockTime(line.dueAt)}  ${line.form}`
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

/** Shows the run to a person. */
export const showText = (): Show => {
  const dueAts = new Map<string, number>()
  return {
    progress: (text) => console.log(text),
    line: (line) => {
      if (line.event === 'scheduled') dueAts.set(line.messageId, line.dueAt)
      const text = asText(line, (messageId) => dueAts.get(messageId))
      if (text !== undefined) console.log(text)
    },
    summary: (summary, isGood) => {
      const { sent, expected, received, early, lost, duplicates, latenessP50Ms, latenessP99Ms } = summary
      console.log(`\n${tableOf(summary.forms)}`)
      console.log(
        `\n${sent} sent, ${expected} expected, ${received} received: ${early} early, ${lost} lost, ${duplicates} double`,
      )
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
