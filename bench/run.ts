import { availableParallelism, cpus } from 'node:os'
import '../examples/quiet-sdk.js'
import { readFlags } from '../examples/read-flags.js'
import { measureBundle } from './measure-bundle.js'
import { measureDrain } from './measure-drain.js'
import { measureLateness } from './measure-lateness.js'
import { measureWaiting, storeWaiting } from './measure-waiting.js'
import { startStack } from './stack.js'

/** `npm run bench`: what dispatching costs, on emulators, in one run. */

const HELP = `npm run bench -- [--json] [--messages N] [--waiting N] [--bundle]

  --messages N  messages in each drain (default 10000)
  --waiting N   rows that wait while an idle dispatcher is watched (default 1000000; 0 leaves that out)
  --bundle      only the dispatcher's bundle: its size, and how long it takes to import
  --json        one JSON object instead of tables`

const values = readFlags(HELP, {
  json: { type: 'boolean', default: false },
  bundle: { type: 'boolean', default: false },
  messages: { type: 'string', default: '10000' },
  waiting: { type: 'string', default: '1000000' },
})

const readCount = (name: string, text: string, least: number): number => {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= least) return value
  console.error(`--${name} is ${text}; it must be an integer from ${least}\n\n${HELP}`)
  process.exit(2)
}

const progress = (text: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
  else process.stderr.write(`${text}\n`)
}

const machine = { node: process.version, cores: availableParallelism(), processor: cpus()[0]?.model ?? 'unknown' }

const runBundle = async () => {
  progress("importing the dispatcher's bundle …")
  return { machine, bundle: await measureBundle() }
}

const run = async (messages: number, waiting: number) => {
  const { bundle } = await runBundle()
  progress('starting the emulators …')
  const stack = await startStack()
  try {
    progress('warming up …')
    await measureDrain(stack, 1_000, 300)
    progress(`draining ${messages} messages of 300 bytes …`)
    const thin = await measureDrain(stack, messages, 300)
    progress(`draining ${Math.ceil(messages / 10)} messages of 10 KB …`)
    const thick = await measureDrain(stack, Math.ceil(messages / 10), 10_240)
    progress('scheduling 300 messages at 50 a second …')
    const lateness = await measureLateness(stack, 300, 50)
    let shown = 0
    if (waiting > 0) {
      await storeWaiting(stack, waiting, (stored) => {
        if (stored - shown < waiting / 20 && stored < waiting) return
        shown = stored
        progress(`storing rows that wait: ${stored} of ${waiting} …`)
      })
      progress('watching an idle dispatcher …')
    }
    const idle = waiting > 0 ? await measureWaiting(stack, waiting) : undefined
    return { machine, bundle, emulators: stack.emulators, thin, thick, lateness, ...(idle !== undefined && { idle }) }
  } finally {
    await stack.stop()
  }
}

const messages = readCount('messages', values.messages, 1)
const waiting = readCount('waiting', values.waiting, 0)
const result = await (values.bundle ? runBundle() : run(messages, waiting))
progress('done\n')
if (values.json) console.log(JSON.stringify(result))
else {
  for (const [name, figures] of Object.entries(result)) {
    console.log(`\n${name}`)
    if (typeof figures === 'string') console.log(`  ${figures}`)
    else
      for (const [key, value] of Object.entries(figures))
        console.log(`  ${key.padEnd(22)} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
  }
}
