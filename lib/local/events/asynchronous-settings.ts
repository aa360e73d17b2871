import { invalidResource, numberOf, objectOf, textOf } from '../assembly/read-property.js'
import { isObject, type Resource } from '../assembly/template.js'
import type { FunctionDefinition } from '../functions/function-definition.js'

/** How a function's asynchronous invocations are treated. */
export interface AsynchronousSettings {
  /** How often a failed event is tried again. */
  readonly retries: number
  /** An event that is older is given up. */
  readonly maxAgeMs: number
  /** Gets a record of each event that was given up; of `DestinationConfig`. */
  readonly onFailureArn: string | undefined
  /** Gets each event that was given up; of the function's `DeadLetterConfig`. */
  readonly deadLetterArn: string | undefined
}

const between = (resource: Resource, property: string, fallback: number, least: number, most: number): number => {
  const value = numberOf(resource, property, fallback)
  if (value < least || value > most)
    throw invalidResource(resource, `${property} is ${value}, outside ${least} to ${most}`)
  return value
}

/** What Lambda does by default. @see https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html */
const DEFAULT_RETRIES = 2
const DEFAULT_MAX_AGE_SECONDS = 21_600

/** Reads the settings of a function from its `EventInvokeConfig`, or gives the defaults. @throws LocalCloudError `resource.invalid` */
export const readAsynchronousSettings = (
  { name, arn, deadLetterArn }: FunctionDefinition,
  resources: readonly Resource[],
): AsynchronousSettings => {
  const config = resources.find(
    (resource) =>
      resource.type === 'AWS::Lambda::EventInvokeConfig' && [name, arn].includes(textOf(resource, 'FunctionName')),
  )
  if (config === undefined)
    return {
      retries: DEFAULT_RETRIES,
      maxAgeMs: DEFAULT_MAX_AGE_SECONDS * 1000,
      onFailureArn: undefined,
      deadLetterArn,
    }
  const { OnFailure: onFailure, OnSuccess: onSuccess } = objectOf(config, 'DestinationConfig')
  if (onSuccess !== undefined) throw invalidResource(config, 'a destination of successes is not known here')
  const destination = isObject(onFailure) ? String(onFailure.Destination) : undefined
  if (destination !== undefined && !destination.includes(':sqs:'))
    throw invalidResource(config, `its destination is ${destination}; only queues are known here`)
  return {
    retries: between(config, 'MaximumRetryAttempts', DEFAULT_RETRIES, 0, 2),
    maxAgeMs: between(config, 'MaximumEventAgeInSeconds', DEFAULT_MAX_AGE_SECONDS, 60, 21_600) * 1000,
    onFailureArn: destination,
    deadLetterArn,
  }
}
