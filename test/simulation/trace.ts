/** Writes down what happens: who, and what. The text is only made when someone will read it. */
export type Trace = (who: string, what: () => string) => void

/** Keeps nothing: for the many seeds that nobody looks at. A seed that failed is run again to be traced. */
export const noTrace: Trace = () => {}

/** Keeps lines of the form `+12.345s worker-1  claims a, b`. */
export const createTrace = (
  now: () => number,
  startedAt: number,
): { readonly trace: Trace; readonly lines: readonly string[] } => {
  const lines: string[] = []
  return {
    trace: (who, what) => {
      const seconds = ((now() - startedAt) / 1_000).toFixed(3)
      lines.push(`+${seconds.padStart(8)}s  ${who.padEnd(14)} ${what()}`)
    },
    lines,
  }
}
