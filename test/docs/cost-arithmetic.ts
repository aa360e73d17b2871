import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { metrics } from '../../lib/wiring/metrics.js'
import { projectRoot } from '../support/compile-files.js'

interface Costs {
  readonly checked: string
  readonly region: string
  readonly prices: Readonly<Record<string, { readonly usd: number; readonly page: string }>>
  readonly measured: Readonly<Record<string, number>>
  readonly assumed: Readonly<Record<string, number>>
}

/** Prices, with the page that each is from, what was measured, and what is assumed. */
export const costs = JSON.parse(readFileSync(join(projectRoot, 'docs/costs.json'), 'utf8')) as Costs

const numberOf = (kind: 'measured' | 'assumed') => (name: string) => {
  const value = costs[kind][name]
  if (value === undefined) throw new Error(`docs/costs.json has no ${name} in ${kind}`)
  return value
}
const measured = numberOf('measured')
const assumed = numberOf('assumed')

const price = (name: string): number => {
  const found = costs.prices[name]
  if (found === undefined) throw new Error(`docs/costs.json has no price ${name}`)
  return found.usd
}

const usd = (value: number): string => `$${(Math.round(value * 100 + 1e-6) / 100).toFixed(2)}`
const fromTo = (least: number, most: number): string => `${usd(least)} to ${usd(most)}`
const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const GB = 2 ** 30
const MILLION = 1e6
const storedMonth = price('dynamoDbStoredGbMonth') + price('dynamoDbRestorableGbMonth')

/** Requests that so many bytes in one call are billed as. */
const billed = (bytes: number): number => Math.ceil(bytes / assumed('billedRequestBytes'))

const batch = assumed('largestBatch')
const kinds = {
  thin: { bytes: assumed('thinBytes'), written: measured('thinWritten'), read: measured('thinRead') },
  tenKb: { bytes: assumed('tenKbBytes'), written: measured('tenKbWritten'), read: measured('tenKbRead') },
}
type Kind = (typeof kinds)[keyof typeof kinds]

const writes = ({ written }: Kind) => written * price('dynamoDbWritePerMillion')
const reads = ({ read }: Kind) => read * price('dynamoDbReadPerMillion')
const publishes = (kind: Kind, together: number) =>
  (billed(kind.bytes * together) / together) * price('snsRequestPerMillion')
// SNS hands each message over by itself; Lambda receives and removes them together.
const queueing = (kind: Kind, together: number) =>
  (1 + billed(kind.bytes * together) / together + 1 / together) * price('sqsRequestPerMillion')
const total = (kind: Kind, together: number) =>
  writes(kind) + reads(kind) + publishes(kind, together) + queueing(kind, together)

const hint = () =>
  3 * price('sqsRequestPerMillion') +
  price('lambdaRequestPerMillion') +
  MILLION * assumed('wakerSeconds') * assumed('dispatcherGb') * price('lambdaArmGbSecond') +
  price('dynamoDbReadPerMillion')

/** The rows of what a million messages cost. */
export const messageRows = (): readonly string[] => {
  const each = (cost: (kind: Kind) => string) => [cost(kinds.thin), cost(kinds.tenKb)]
  const range = (cost: (kind: Kind, together: number) => number) =>
    each((kind) => fromTo(cost(kind, batch), cost(kind, 1)))
  const bodyMonths = 3
  return [
    row(
      `DynamoDB, written: ${kinds.thin.written.toFixed(1)} units; ${kinds.tenKb.written} for 10 KB`,
      ...each((kind) => usd(writes(kind))),
    ),
    row(
      `DynamoDB, read: at most ${kinds.thin.read} units; ${kinds.tenKb.read} for 10 KB`,
      ...each((kind) => usd(reads(kind))),
    ),
    row('SNS: a publish for ten that are due together, or for one', ...range(publishes)),
    row("SQS, each receiver: arrival, and Lambda's receive and delete for ten or for one", ...range(queueing)),
    row('**together**', ...range(total)),
    row('a wake hint, if due within 130 s; several of a second share one', ...each(() => `up to ${usd(hint())}`)),
    row(
      'stored, with point-in-time recovery: each month of waiting; 10 KB also for 90 days after',
      usd(((kinds.thin.bytes * MILLION) / GB) * storedMonth),
      `${usd(((kinds.tenKb.bytes * MILLION) / GB) * storedMonth)}, and ${usd(((kinds.tenKb.bytes * MILLION) / GB) * storedMonth * bodyMonths)}`,
    ),
  ]
}

const ticks = assumed('ticksInMonth')
const perMillion = (count: number, name: string): number => (count / MILLION) * price(name)
const lambdaSeconds = (seconds: number) => seconds * assumed('dispatcherGb') * price('lambdaArmGbSecond')

const scheduler = perMillion(ticks, 'schedulerInvocationPerMillion')
const invocations = perMillion(ticks, 'lambdaRequestPerMillion')
const idleLambda = invocations + lambdaSeconds(ticks * assumed('idleTickSeconds'))
const idleTable =
  perMillion(ticks * measured('idleTickRead'), 'dynamoDbReadPerMillion') +
  perMillion(ticks * measured('idleTickWritten'), 'dynamoDbWritePerMillion')
const polling = perMillion(assumed('pollsOfQueueInMonth'), 'sqsRequestPerMillion')
const minutes = assumed('secondsInMonth') / 60
const awakeLambda = invocations + lambdaSeconds(assumed('secondsInMonth'))
const awakeTable =
  perMillion(minutes * measured('awakeMinuteRead'), 'dynamoDbReadPerMillion') +
  perMillion(minutes * measured('awakeMinuteWritten'), 'dynamoDbWritePerMillion')

/** Alarms, as their page lists them: those of a delivery, and those of a receiver. */
const alarmCounts = (): { readonly delivery: number; readonly receiver: number } => {
  const page = readFileSync(join(projectRoot, 'docs/guides/alarms.md'), 'utf8')
  const [, delivery, receiver] = /makes (\w+) alarms .*?`MessageReceiver` (\w+)\./s.exec(page) ?? []
  const words = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven']
  return { delivery: words.indexOf(delivery ?? ''), receiver: words.indexOf(receiver ?? '') }
}

/** The rows of what a month costs, whatever is sent. */
export const monthRows = (): readonly string[] => {
  const alarms = alarmCounts()
  const metricCount = Object.keys(metrics).length
  const logs = ((ticks * (measured('tickLogBytes') + assumed('platformLogBytes'))) / GB) * price('cloudWatchLogGb')
  const monitoring =
    metricCount * price('cloudWatchMetricMonth') + alarms.delivery * price('cloudWatchAlarmMonth') + logs
  const thousands = (count: number) => count.toLocaleString('en-US')
  return [
    row(`${thousands(ticks)} ticks of EventBridge Scheduler`, usd(scheduler)),
    row(`dispatcher, asleep: a tenth of a second of ${assumed('dispatcherGb') * 1024} MB each tick`, usd(idleLambda)),
    row(
      `its looks: ${measured('idleTickRead')} units read, ${measured('idleTickWritten')} written each tick`,
      usd(idleTable),
    ),
    row(`Lambda's polls of the queue of hints, ${thousands(assumed('pollsOfQueueInMonth'))} of them`, usd(polling)),
    row('**asleep, together**', usd(scheduler + idleLambda + idleTable + polling)),
    row(
      '**awake all month**: the dispatcher, and its looks every second',
      usd(scheduler + awakeLambda + awakeTable + polling),
    ),
    row("each receiver: Lambda's polls of its queue", usd(polling)),
    row(`${metricCount} metrics, ${alarms.delivery} alarms, their log`, usd(monitoring)),
    row(`${alarms.receiver} alarms of each receiver`, usd(alarms.receiver * price('cloudWatchAlarmMonth'))),
    row(
      'dashboard, from the fourth of an account; customer key',
      `${usd(price('cloudWatchDashboardMonth'))}; ${usd(price('kmsKeyMonth'))}`,
    ),
  ]
}

/** What the comparison says of others, a million messages. */
export const comparedPrices = (): readonly string[] => [
  `${usd(price('schedulerInvocationPerMillion'))} a million`,
  `$${price('stepFunctionsTransitionPerMillion') * assumed('transitionsOfWorkflow')} a million`,
]
