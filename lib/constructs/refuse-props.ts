import { Token } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'
import { type DispatchMode, dispatchModes } from '../wiring/environment.js'

/** An error at synth that names the construct, and what is wrong with its props. */
export const refuseProps = (scope: IConstruct, rule: string): Error =>
  new Error(`${scope.node.path || 'the app'}: ${rule}`)

const NAME = /^[\w-]{1,64}$/

/**
 * Checks a name that keys and routes are made of: a bus's or a receiver's.
 * @throws Error that names the construct
 */
export const checkName = (scope: IConstruct, what: string, name: string): string => {
  if (!Token.isUnresolved(name) && NAME.test(name)) return name
  throw refuseProps(
    scope,
    `the ${what} ${JSON.stringify(name)} must be 1 to 64 letters, digits, _ and -, fixed at synth`,
  )
}

/**
 * Checks a number of shards.
 * @throws Error that names the construct
 */
export const checkShards = (scope: IConstruct, shards: number): number => {
  if (Number.isSafeInteger(shards) && shards >= 1 && shards <= 1_000) return shards
  throw refuseProps(scope, `writeShards is ${shards}; it must be an integer from 1 to 1,000, fixed at synth`)
}

/**
 * Checks how a dispatcher is to work: in JavaScript anything may be given, and its function would not start.
 * @throws Error that names the construct
 */
export const checkMode = (scope: IConstruct, mode: DispatchMode): DispatchMode => {
  if (dispatchModes.includes(mode)) return mode
  throw refuseProps(scope, `mode is ${JSON.stringify(mode)}; it must be ${dispatchModes.join(' or ')}`)
}

/**
 * Checks the memory of functions.
 * @throws Error that names the construct
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
 */
export const checkMemory = (scope: IConstruct, megabytes: number): number => {
  const isFit = Number.isInteger(megabytes) && megabytes >= 128 && megabytes <= 10_240
  if (Token.isUnresolved(megabytes) || isFit) return megabytes
  throw refuseProps(scope, `memorySize is ${megabytes}; it must be an integer from 128 to 10,240`)
}
