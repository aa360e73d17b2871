import type { Line } from '../first-delivery/lines.js'
import { showJson, showText } from '../first-delivery/show.js'
import { isGood, summarize } from '../first-delivery/summary.js'
import { bootShop } from './boot.js'
import { playOrders } from './play-orders.js'

/** `npm start`: the example of `bin/app.ts`, synthesized, on a local cloud. */

const show = process.argv.includes('--json') ? showJson() : showText()
const lines: Line[] = []
const onLine = (line: Line) => {
  lines.push(line)
  show.line(line)
}

/** A minute of the schedule in ten seconds, so that the dispatcher's tick is seen within the run. */
const SCHEDULE_SPEED = 6

const verbose = process.argv.includes('--verbose')
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
