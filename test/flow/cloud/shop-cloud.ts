import { type AttributeValue, ScanCommand } from '@aws-sdk/client-dynamodb'
import { onTestFinished } from 'vitest'
import type { AlarmReport, Invocation, LocalCloud, LocalCloudOptions } from '../../../lib/local.js'
import { startLocalCloud } from '../../../lib/local.js'
import { clientsOf } from '../../local/support/clients.js'

/** A message as the billing function logged it. */
export interface Handled {
  readonly received: string
  readonly orderId: string
  readonly messageId: string
  readonly correlationId: string
  /** Of a message that was delayed, epoch milliseconds. */
  readonly dueAt?: number
  readonly latenessMs?: number
  readonly attempt: number
}

/** What the orders function answers for a message that it scheduled. */
export interface Receipt {
  readonly status: string
  readonly messageId: string
  readonly dueAt: number
}

/** An order that was placed. */
export interface PlacedOrder {
  readonly orderId: string
  readonly reminder: Receipt
  readonly cancellation: Receipt
}

/** When an order's messages are to fall due, epoch milliseconds. */
export interface OrderTimes {
  readonly remindAt: number
  readonly cancelAt: number
}

const DAY_MS = 86_400_000

/** Times that no test lives to see. */
export const inDays = (): OrderTimes => ({ remindAt: Date.now() + DAY_MS, cancelAt: Date.now() + 3 * DAY_MS })

/** The example on a local cloud. */
export interface Shop {
  readonly cloud: LocalCloud
  /** What the cloud printed. */
  readonly lines: readonly string[]
  /** Calls an orders function. @param stack the stack that has it @default the shop's own */
  order(orderId: string, times: OrderTimes, stack?: string): Promise<Invocation>
  /** Calls an orders function, which has to succeed. */
  place(orderId: string, times: OrderTimes, stack?: string): Promise<PlacedOrder>
  /** Every time that a handler of the billing function was given a message, until now. */
  handled(): readonly Handled[]
  /** The name of the table. */
  readonly table: string
  /** The kinds of all items in the table, such as `due` and `dead`, sorted. */
  kinds(): Promise<readonly string[]>
  /** The alarm whose construct path ends so. */
  alarm(path: string): Promise<AlarmReport>
}

/** Other work on the machine must not fail a test: most of what is waited for takes a second or two where nothing else runs. */
const LONGEST_WAIT_MS = 150_000
const LOOK_EVERY_MS = 50

/** Waits until a check gives something. @throws Error with `about` when it gives nothing for very long */
export const until = async <T>(
  what: string,
  check: () => Promise<T | undefined> | T | undefined,
  about: () => unknown = () => '',
): Promise<T> => {
  const giveUpAt = Date.now() + LONGEST_WAIT_MS
  for (;;) {
    const found = await check()
    if (found !== undefined) return found
    if (Date.now() > giveUpAt) throw new Error(`${what}: not within ${LONGEST_WAIT_MS} ms. ${String(about())}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

/** Reads the kinds of all items of a table from their partition keys. */
const readKinds = async (cloud: LocalCloud, table: string): Promise<readonly string[]> => {
  const { dynamodb } = clientsOf(cloud)
  const kinds: string[] = []
  let from: Record<string, AttributeValue> | undefined
  do {
    const page = await dynamodb.send(
      new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: from }),
    )
    for (const { pk } of page.Items ?? []) kinds.push(String(pk?.S).replace(/#.*/, ''))
    from = page.LastEvaluatedKey
  } while (from !== undefined)
  dynamodb.destroy()
  return kinds.sort()
}

const readHandled = (line: string): readonly Handled[] => {
  const start = line.indexOf('{"received"')
  return start < 0 ? [] : [JSON.parse(line.slice(start)) as Handled]
}

/**
 * Starts a synthesized app on a local cloud for one test, and stops it when the test has ended; stopping fails the test if
 * a function called what the local cloud does not know.
 */
export const startShop = async (assembly: string, options: LocalCloudOptions = {}): Promise<Shop> => {
  const lines: string[] = []
  // A tick of the dispatcher a second.
  const cloud = await startLocalCloud({
    assembly,
    scheduleSpeed: 60,
    onLine: (line) => lines.push(line),
    ...options,
  })
  onTestFinished(() => cloud.stop())
  const table = String(cloud.outputs.PostdateExample?.TableName)
  const order: Shop['order'] = (orderId, { remindAt, cancelAt }, stack = 'PostdateExample') =>
    cloud.invoke(`${stack}/Orders`, {
      orderId,
      remindAt: new Date(remindAt).toISOString(),
      cancelAt: new Date(cancelAt).toISOString(),
    })
  return {
    cloud,
    lines,
    table,
    order,
    kinds: () => readKinds(cloud, table),
    place: async (orderId, times, stack) => {
      const { outcome, payload, error } = await order(orderId, times, stack)
      if (outcome !== 'ok') throw new Error(`${orderId} was not placed: ${error?.errorMessage ?? outcome}`)
      return payload as PlacedOrder
    },
    handled: () =>
      cloud.invocations('PostdateExample/BillingFunction').flatMap(({ logs }) => logs.flatMap(readHandled)),
    alarm: async (path) => {
      const alarms = await cloud.alarms()
      const found = alarms.find((alarm) => alarm.path.replace(/\/Resource$/, '').endsWith(path))
      if (found === undefined) throw new Error(`no alarm ${path}: ${alarms.map((alarm) => alarm.path).join(', ')}`)
      return found
    },
  }
}
