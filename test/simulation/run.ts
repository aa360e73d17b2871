import { readFlags } from '../../examples/read-flags.js'
import { checkSeeds } from './check-seeds.js'
import { FAULT_KINDS, FAULTS } from './faults.js'
import { describeFailure } from './report.js'
import { simulate } from './simulate.js'

const USAGE = `npm run simulate -- [--seeds 10000] [--from 1]   runs many seeds
npm run simulate -- --trace SEED                 runs one, and prints all that happens in it`

const readNumber = (name: string, text: string): number => {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= 0) return number
  console.error(`--${name} is ${text}, and must be an integer from 0\n\n${USAGE}`)
  process.exit(2)
}

const traceOne = async (seed: number): Promise<number> => {
  const result = await simulate({ seed, isTraced: true })
  console.log(result.trace.join('\n'))
  console.log(`\nfaults: ${[...result.faults].join(', ') || 'none'}`)
  if (result.violations.length === 0) console.log(`seed ${seed} broke no promise`)
  else console.log(`\n${describeFailure(result)}`)
  return result.violations.length === 0 ? 0 : 1
}

const PROGRESS_EVERY_MS = 500

const runMany = async (from: number, count: number): Promise<number> => {
  const startedAt = performance.now()
  let shownAt = startedAt
  const checked = await checkSeeds(from, count, (done, failures) => {
    const now = performance.now()
    if (now - shownAt < PROGRESS_EVERY_MS * (process.stderr.isTTY ? 1 : 10)) return
    shownAt = now
    const perSecond = Math.round((done / (now - startedAt)) * 1_000)
    const text = `seed ${from + done - 1}: ${done} of ${count}, ${perSecond} a second, ${failures} failed`
    process.stderr.write(process.stderr.isTTY ? `\r${text}` : `${text}\n`)
  })
  if (process.stderr.isTTY) process.stderr.write('\n')
  const { seeds, messages, publishes, virtualMs, occurrences, failures } = checked
  for (const failure of failures) console.log(`${failure}\n`)
  console.log('fault                  seeds')
  for (const kind of FAULT_KINDS)
    console.log(`${kind.padEnd(22)} ${String(occurrences.get(kind) ?? 0).padStart(5)}  ${FAULTS[kind]}`)
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  const days = (virtualMs / 86_400_000).toFixed(1)
  console.log(
    `\n${seeds} seeds in ${seconds} s: ${messages} messages, ${publishes} publishes, ${days} days of virtual time`,
  )
  console.log(failures.length === 0 ? 'no promise was broken' : `${failures.length} seeds broke promises`)
  return failures.length === 0 ? 0 : 1
}

const values = readFlags(USAGE, {
  seeds: { type: 'string', default: '10000' },
  from: { type: 'string', default: '1' },
  trace: { type: 'string' },
})

process.exitCode =
  values.trace === undefined
    ? await runMany(readNumber('from', values.from), readNumber('seeds', values.seeds))
    : await traceOne(readNumber('trace', values.trace))
