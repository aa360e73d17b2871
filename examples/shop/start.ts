import '../quiet-sdk.js'
import type { Line } from '../first-delivery/lines.js'
import { showJson, showText } from '../first-delivery/show.js'
import { isGood, summarize } from '../first-delivery/summary.js'
import { readFlags } from '../read-flags.js'
import { bootShop } from './boot.js'
import { playOrders } from './play-orders.js'

/** `npm start`: the example of `bin/app.ts`, synthesized, on a local cloud. */

const HELP = `npm start -- [--json] [--verbose]

  --json     one JSON object a line, the last one with the summary
  --verbose  also shows each invocation and what the functions log`

const { json, verbose } = readFlags(HELP, { json: { type: 'boolean' }, verbose: { type: 'boolean' } })
const show = json ? showJson() : showText()
const lines: Line[] = []
const onLine = (line: Line) => {
  lines.push(line)
  show.line(line)
}

/** A minute of the schedule in ten seconds, so that the dispatcher's tick is seen within the run. */
const SCHEDULE_SPEED = 6

const cloud = await bootShop(show.progress, {
  scheduleSpeed: SCHEDULE_SPEED,
  onLine: (line) => {
    if (verbose || /AccessDenied|unknown call|error|crashed|timeout/.test(line)) show.progress(`  cloud      ${line}`)
  },
})
try {
  await playOrders(cloud, show.progress, onLine)
} finally {
  await cloud.stop()
}
const summary = summarize(lines)
const good = isGood(summary) && cloud.denials().length === 0
show.summary(summary, good)
process.exitCode = good ? 0 : 1
