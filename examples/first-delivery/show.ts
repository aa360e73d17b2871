import type { Line } from './lines.js'
import type { Summary } from './summary.js'

/** How the run is shown: for people, or one JSON object a line. */
export interface Show {
  progress(text: string): void
  line(line: Line): void
  summary(summary: Summary, isGood: boolean): void
}

const clockTime = (at: number) => new Date(at).toISOString().slice(11, 23)

const asText = (line: Line, askedAtOf: (messageId: string) => number | undefined): string | undefined => {
  if (line.event === 'scheduled') {
    const what = line.status === 'sent' ? 'sent     ' : 'scheduled'
    return `  ${what}  #${String(line.number).padEnd(3)} for ${clockTime(line.askedAt)}  ${line.form}`
  }
  if (line.event === 'recalled') return `  recall     #${String(line.number).padEnd(3)} ${line.outcome}`
  if (line.event === 'received') {
    const askedAt = askedAtOf(line.messageId)
    const asked = askedAt === undefined ? '' : `asked for ${clockTime(askedAt)}, ${line.receivedAt - askedAt} ms late`
    return `  arrived    #${String(line.number).padEnd(3)} at  ${clockTime(line.receivedAt)}  ${asked} (${line.process})`
  }
  return undefined
}

/** Shows the run to a person. */
export const showText = (): Show => {
  const askedAt = new Map<string, number>()
  return {
    progress: (text) => console.log(text),
    line: (line) => {
      if (line.event === 'scheduled') askedAt.set(line.messageId, line.askedAt)
      const text = asText(line, (messageId) => askedAt.get(messageId))
      if (text !== undefined) console.log(text)
    },
    summary: (summary, isGood) => {
      const { sent, expected, received, early, lost, duplicates, latenessP50Ms, latenessP99Ms } = summary
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
