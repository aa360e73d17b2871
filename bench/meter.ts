import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { SNSClient } from '@aws-sdk/client-sns'

/** What was asked of AWS, counted at the clients. */
export interface Meter {
  /** Requests by service and command, e.g. `dynamodb BatchExecuteStatement`. */
  readonly requests: ReadonlyMap<string, number>
  /** Capacity units consumed by writes and by reads. */
  units(): { readonly written: number; readonly read: number }
  /** Forgets what was counted. */
  reset(): void
}

interface Capacity {
  readonly CapacityUnits?: number
}

const unitsOf = (capacity: Capacity | readonly Capacity[] | undefined): number => {
  if (capacity === undefined) return 0
  const all = Array.isArray(capacity) ? (capacity as readonly Capacity[]) : [capacity as Capacity]
  return all.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0)
}

const isRead = (command: string) => /^(Query|GetItem|BatchGetItem|Scan)/.test(command)

/** Counts every request of two clients, and asks DynamoDB what each one consumed. The product asks for no such thing. */
export const meterClients = (dynamoDb: DynamoDBClient, sns: SNSClient): Meter => {
  const requests = new Map<string, number>()
  let written = 0
  let read = 0
  const count = (key: string) => requests.set(key, (requests.get(key) ?? 0) + 1)
  dynamoDb.middlewareStack.add(
    (next, context) => async (args) => {
      const command = String(context.commandName).replace(/Command$/, '')
      count(`dynamodb ${command}`)
      const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } })
      const { ConsumedCapacity } = result.output as { ConsumedCapacity?: Capacity | readonly Capacity[] }
      if (isRead(command)) read += unitsOf(ConsumedCapacity)
      else written += unitsOf(ConsumedCapacity)
      return result
    },
    { step: 'initialize', name: 'meter' },
  )
  sns.middlewareStack.add(
    (next, context) => (args) => {
      count(`sns ${String(context.commandName).replace(/Command$/, '')}`)
      return next(args)
    },
    { step: 'initialize', name: 'meter' },
  )
  return {
    requests,
    units: () => ({ written, read }),
    reset: () => {
      requests.clear()
      written = 0
      read = 0
    },
  }
}
