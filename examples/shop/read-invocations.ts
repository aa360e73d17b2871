import type { Invocation } from '../../lib/local.js'

/** A message as the billing function logged it. */
export interface Handled {
  /** What it was and for which order: a message of the example is known by these two. */
  readonly key: string
  /** When its handler was called, epoch milliseconds. */
  readonly receivedAt: number
}

/** The key of a message of the example. */
export const keyOf = (name: string, orderId: string): string => `${name} of ${orderId}`

const readLine = (line: string, startedAt: number): Handled | undefined => {
  // Other lines of the log are metrics and what the platform says.
  const text = line.slice(line.indexOf('{'))
  try {
    const { received, orderId, dueAt, latenessMs } = JSON.parse(text) as Record<string, unknown>
    if (typeof received !== 'string' || typeof orderId !== 'string') return undefined
    const at = typeof dueAt === 'number' && typeof latenessMs === 'number' ? dueAt + latenessMs : startedAt
    return { key: keyOf(received, orderId), receivedAt: at }
  } catch {
    return undefined
  }
}

/** The messages that an invocation of the billing function handled. */
export const readHandled = ({ logs, startedAt }: Invocation): readonly Handled[] =>
  logs.flatMap((line) => readLine(line, startedAt) ?? [])
