import type { Readable } from 'node:stream'

/** Ends an invocation's lines on both streams; see the bootstrap. */
const END_MARK = '\u001e'

/** The log of one process: lines of both streams, and the ends of invocations among them. */
export interface LogCollector {
  /** Takes the lines that were written since the last call. */
  take(): string[]
  /** Resolves when both streams have come to the end of an invocation, or after a while, should one be closed. */
  untilEnd(requestId: string): Promise<void>
}

/** A process that closes a stream of its own ends no line there any more. */
const LONGEST_WAIT_MS = 500

/** Collects what a process writes to its streams, line by line. @param onLine gets each line as it is written */
export const collectLog = (streams: readonly Readable[], onLine: (line: string) => void): LogCollector => {
  let lines: string[] = []
  const seen = new Map<string, number>()
  const waiting = new Map<string, () => void>()

  const end = (requestId: string) => {
    const count = (seen.get(requestId) ?? 0) + 1
    seen.set(requestId, count)
    if (count >= streams.length) waiting.get(requestId)?.()
  }
  const keep = (line: string) => {
    lines.push(line)
    onLine(line)
  }
  const takeLine = (line: string) => {
    const mark = line.indexOf(END_MARK)
    if (mark < 0) keep(line)
    else {
      if (mark > 0) keep(line.slice(0, mark))
      end(line.slice(mark + 1))
    }
  }
  for (const stream of streams) {
    // In pieces: a line of megabytes, put together anew at each of them, would take minutes.
    let rest: string[] = []
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => {
      const parts = text.split('\n')
      const last = parts.pop() ?? ''
      for (const part of parts) {
        takeLine([...rest, part].join(''))
        rest = []
      }
      rest.push(last)
    })
    stream.on('end', () => {
      const line = rest.join('')
      if (line !== '') takeLine(line)
      rest = []
    })
  }
  return {
    take: () => {
      const taken = lines
      lines = []
      return taken
    },
    untilEnd: async (requestId) => {
      if ((seen.get(requestId) ?? 0) < streams.length)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, LONGEST_WAIT_MS)
          waiting.set(requestId, () => {
            clearTimeout(timer)
            resolve()
          })
        })
      waiting.delete(requestId)
      seen.delete(requestId)
    },
  }
}
