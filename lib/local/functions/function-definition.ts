import { existsSync, statSync } from 'node:fs'
import { invalidResource, numberOf, objectOf, textOf } from '../assembly/read-property.js'
import { isObject, type JsonObject, type Resource } from '../assembly/template.js'

/** A function as the template declares it. */
export interface FunctionDefinition {
  readonly logicalId: string
  readonly path: string
  readonly name: string
  readonly arn: string
  readonly roleArn: string
  /** The folder of its code. */
  readonly folder: string
  readonly handler: string
  readonly runtime: string
  readonly memoryMb: number
  readonly timeoutSeconds: number
  readonly environment: Readonly<Record<string, string>>
  /** At most so many invocations at once; `undefined` where the template reserves none. */
  readonly reservedConcurrency: number | undefined
  /** Where an event goes that failed for good; of `DeadLetterConfig`. */
  readonly deadLetterArn: string | undefined
}

/** AWS refuses more than this for all names and values together. */
const MOST_ENVIRONMENT_BYTES = 4096

const findFolder = (resource: Resource, assets: ReadonlyMap<string, string>): string => {
  const { S3Key: key } = objectOf(resource, 'Code')
  const folder = typeof key === 'string' ? assets.get(key) : undefined
  if (folder === undefined || !existsSync(folder) || !statSync(folder).isDirectory())
    throw invalidResource(
      resource,
      'its code is no folder among the assets (inline code, images and archives are not known)',
    )
  return folder
}

const readEnvironment = (resource: Resource): Record<string, string> => {
  const { Variables: variables = {} } = objectOf(resource, 'Environment')
  if (!isObject(variables)) throw invalidResource(resource, 'Environment.Variables is no object')
  const environment = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, String(value)]))
  const bytes = Buffer.byteLength(Object.entries(environment).flat().join(''))
  if (bytes > MOST_ENVIRONMENT_BYTES)
    throw invalidResource(resource, `its environment has ${bytes} bytes, above ${MOST_ENVIRONMENT_BYTES}`)
  return environment
}

const between = (resource: Resource, property: string, fallback: number, least: number, most: number): number => {
  const value = numberOf(resource, property, fallback)
  if (!Number.isInteger(value) || value < least || value > most)
    throw invalidResource(resource, `${property} is ${value}, outside ${least} to ${most}`)
  return value
}

/**
 * Reads a function, with the limits that AWS sets.
 * @throws LocalCloudError `resource.invalid`
 */
export const readFunction = (resource: Resource, assets: ReadonlyMap<string, string>): FunctionDefinition => {
  const runtime = textOf(resource, 'Runtime')
  if (!runtime.startsWith('nodejs')) throw invalidResource(resource, `its runtime is ${runtime}; only nodejs runs here`)
  const handler = textOf(resource, 'Handler')
  if (!/^.+\.[^./]+$/.test(handler)) throw invalidResource(resource, `its handler is ${handler}, not file.name`)
  const deadLetter: JsonObject = objectOf(resource, 'DeadLetterConfig')
  return {
    logicalId: resource.logicalId,
    path: resource.path,
    name: resource.name,
    arn: resource.arn,
    roleArn: textOf(resource, 'Role'),
    folder: findFolder(resource, assets),
    handler,
    runtime,
    memoryMb: between(resource, 'MemorySize', 128, 128, 10_240),
    timeoutSeconds: between(resource, 'Timeout', 3, 1, 900),
    environment: readEnvironment(resource),
    reservedConcurrency:
      resource.properties.ReservedConcurrentExecutions === undefined
        ? undefined
        : between(resource, 'ReservedConcurrentExecutions', 0, 0, 1000),
    deadLetterArn: deadLetter.TargetArn === undefined ? undefined : String(deadLetter.TargetArn),
  }
}
