import '../quiet-sdk.js'
import { startDynamoDb } from '../../lib/local/emulators/dynamodb.js'
import { startMessaging } from '../../lib/local/emulators/messaging.js'
import { readFlags } from '../read-flags.js'
import { connectClients, type Setup } from './connect.js'
import type { Line } from './lines.js'
import { ended, startProcess } from './processes.js'
import { showJson, showText } from './show.js'
import { expectedOf, isGood, summarize } from './summary.js'
import { createTopology } from './topology.js'

/** `npm run example`: a sender and two started, receiving buses, as processes of their own, on real wire protocols. */

const HELP = `npm run example -- [--json] [--verbose]

  --json     one JSON object a line, the last one with the summary
  --verbose  also shows each message of those that were sent together`

const { json, verbose } = readFlags(HELP, { json: { type: 'boolean' }, verbose: { type: 'boolean' } })
const show = json ? showJson() : showText(verbose)
const lines: Line[] = []
const waiting: { readonly until: (line: Line) => boolean; readonly resolve: () => void }[] = []

const onLine = (line: Line) => {
  lines.push(line)
  show.line(line)
  for (const { until, resolve } of waiting) if (until(line)) resolve()
}

/** Resolves at a line for which `until` holds, or after so long: the summary tells what is missing then. */
const lineWithin = (ms: number, until: (line: Line) => boolean): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    waiting.push({
      until,
      resolve: () => {
        clearTimeout(timer)
        resolve()
      },
    })
  })

const isReceived = () => {
  const arrived = new Set(lines.flatMap((line) => (line.event === 'received' ? [line.messageId] : [])))
  return expectedOf(lines).every(({ messageId }) => arrived.has(messageId))
}

/** The last message is due 6 s after the sender's last call; this is far more. */
const GIVE_UP_AFTER_MS = 25_000
/** Long enough for a second copy of anything to show. */
const WATCH_FOR_DUPLICATES_MS = 1_500

show.progress('Starting DynamoDB, SNS and SQS on loopback …')
const [dynamoDb, messaging] = await Promise.all([startDynamoDb(), startMessaging()])
const endpoints = { dynamoDbEndpoint: dynamoDb.endpoint, messagingEndpoint: messaging.endpoint }
const clients = connectClients(endpoints)
const topology = await createTopology(clients, 'postdate-demo')
const setup: Setup = { ...endpoints, batching: dynamoDb.batching, ...topology }

show.progress(`${dynamoDb.kind} and ${messaging.kind} are up. Starting two receiving buses …`)
const names = ['receiver-1', 'receiver-2']
const ready = Promise.all(
  names.map((name) => lineWithin(20_000, (line) => line.event === 'ready' && line.process === name)),
)
const receivers = names.map((name) => startProcess('receiver.ts', setup, onLine, [name]))
await ready

show.progress('Sending, in every form:')
const sender = startProcess('sender.ts', setup, onLine)
const sent = await ended(sender)
if (sent !== 0) show.progress(`the sender ended with code ${sent}`)

show.progress('Waiting for the rest to fall due …')
if (!isReceived()) await lineWithin(GIVE_UP_AFTER_MS, isReceived)
await new Promise((resolve) => setTimeout(resolve, WATCH_FOR_DUPLICATES_MS))

for (const receiver of receivers) receiver.kill('SIGTERM')
await Promise.all(receivers.map(ended))
for (const client of Object.values(clients)) client.destroy()
await Promise.all([dynamoDb.stop(), messaging.stop()])

const summary = summarize(lines)
const good = sent === 0 && isGood(summary)
show.summary(summary, good)
process.exitCode = good ? 0 : 1
