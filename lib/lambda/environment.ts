import { assembleBus, type Bus } from '../core/bus.js'
import { type Clock, systemClock } from '../core/clock.js'
import { PostdateError } from '../core/errors.js'
import { consoleLogger, type Logger } from '../core/observation.js'
import type { Coordination, DelayingPersistence } from '../core/persistence.js'
import type { BusOptions } from '../core/settings.js'
import type { Transport } from '../core/transport.js'
import { type DynamoDbPersistenceOptions, dynamoDbPersistence } from '../dynamodb/persistence.js'
import { snsTransport } from '../sns/transport.js'
import { sqsWakeHint } from '../sqs/hint.js'
import { type DispatchMode, dispatchModes, environmentVariables } from '../wiring/environment.js'
import type { Environment } from './invocation.js'

/** Options of a bus that the environment does not decide. */
export type EnvironmentBusOptions = Pick<
  BusOptions,
  | 'outgoing'
  | 'horizon'
  | 'pastDue'
  | 'delayLevels'
  | 'resolutionMs'
  | 'recall'
  | 'clock'
  | 'ids'
  | 'logger'
  | 'onEvent'
> & {
  /** @default process.env */
  readonly environment?: Environment
}

const readVariable = (environment: Environment, variable: string): string => {
  const value = environment[variable]
  if (value === undefined || value === '') throw new PostdateError('environment.missing-variable', { variable })
  return value
}

/** The options of the persistence that the environment decides. */
const readPersistence = (environment: Environment): Pick<DynamoDbPersistenceOptions, 'tableName' | 'writeShards'> => {
  const { tableName, writeShards } = environmentVariables
  const shards = environment[writeShards]
  return {
    tableName: readVariable(environment, tableName),
    // What is no number fails the check of the option, which names it.
    ...(shards !== undefined && { writeShards: Number(shards) }),
  }
}

/**
 * Makes the bus of a function that the constructs connected: `delivery.connect(fn)` passes names by the environment, and
 * nobody types them. Call it once, outside of the handler, so that clients and their connections serve all invocations.
 * @throws PostdateError `environment.missing-variable`, `options.invalid`
 * @example
 * const bus = busFromEnvironment({ outgoing: [stampTraceparent] })
 */
export const busFromEnvironment = (options: EnvironmentBusOptions = {}): Bus => {
  const { environment = process.env, ...own } = options
  const { busName, topicArn, wakeQueueUrl } = environmentVariables
  const queueUrl = environment[wakeQueueUrl]
  const telling = own.logger === undefined ? {} : { logger: own.logger }
  return assembleBus({
    ...own,
    name: readVariable(environment, busName),
    transport: snsTransport({ topicArn: readVariable(environment, topicArn) }),
    persistence: dynamoDbPersistence({ ...readPersistence(environment), ...telling }),
    ...(queueUrl !== undefined && { wakeHint: sqsWakeHint({ queueUrl, ...telling }) }),
    requireDurable: true,
  })
}

/** What the dispatcher's and the waker's functions work with. */
export interface DispatchParts {
  /** The bus's name, for metrics. */
  readonly busName: string
  /** The table's name, for metrics. */
  readonly tableName: string
  readonly mode: DispatchMode
  readonly persistence: DelayingPersistence & { readonly coordination: Coordination }
  readonly transport: Transport
  readonly clock: Clock
  readonly logger: Logger
  /** Writes one line of the function's log, which is where CloudWatch reads metrics from. */
  readonly writeLine: (line: string) => void
}

const readMode = (environment: Environment): DispatchMode => {
  const variable = environmentVariables.mode
  const value = environment[variable] ?? 'second'
  const mode = dispatchModes.find((one) => one === value)
  if (mode !== undefined) return mode
  throw new PostdateError('environment.invalid-variable', {
    variable,
    value,
    rule: `it is ${dispatchModes.join(' or ')}`,
  })
}

/**
 * Makes what a dispatching function needs from its environment. Call it once, outside of the handler.
 * @throws PostdateError `environment.missing-variable`, `environment.invalid-variable`, `options.invalid`
 */
export const dispatchPartsFromEnvironment = (environment: Environment = process.env): DispatchParts => {
  const { busName, topicArn } = environmentVariables
  const persistence = readPersistence(environment)
  return {
    busName: readVariable(environment, busName),
    tableName: persistence.tableName,
    mode: readMode(environment),
    persistence: dynamoDbPersistence(persistence),
    transport: snsTransport({ topicArn: readVariable(environment, topicArn) }),
    clock: systemClock,
    logger: consoleLogger,
    // Not the console: where a function logs in JSON, Lambda wraps what goes through it, and no metric is found in that.
    writeLine: (line) => process.stdout.write(`${line}\n`),
  }
}
