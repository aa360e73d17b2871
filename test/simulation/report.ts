import type { SimulationResult } from './simulate.js'

const LINES_BEFORE = 120

/** How to run one seed again, with its whole trace. */
export const commandFor = (seed: number): string => `npm run simulate -- --trace ${seed}`

/** Tells what a seed broke, what happened before that, and how to see it all. `result` is of a traced run. */
export const describeFailure = ({ seed, violations, trace }: SimulationResult): string => {
  const first = trace.findIndex((line) => line.includes('VIOLATION'))
  const end = first < 0 ? trace.length : first + 1
  const from = Math.max(0, end - LINES_BEFORE)
  return [
    `seed ${seed} broke ${violations.length} promises:`,
    ...violations.map(({ rule, what }) => `  ${rule}: ${what}`),
    '',
    `what happened before the first${from > 0 ? ` (${from} earlier lines left out)` : ''}:`,
    ...trace.slice(from, end).map((line) => `  ${line}`),
    '',
    `all of it: ${commandFor(seed)}`,
  ].join('\n')
}
