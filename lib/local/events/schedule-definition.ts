import { invalidResource } from '../assembly/read-property.js'
import { isObject, type JsonObject, type Resource } from '../assembly/template.js'
import { readScheduleExpression, type ScheduleTiming } from './schedule-expression.js'

/** A schedule of EventBridge Scheduler. */
export interface ScheduleDefinition {
  readonly name: string
  readonly group: string
  readonly arn: string
  readonly timing: ScheduleTiming
  readonly enabled: boolean
  readonly startAt: number | undefined
  readonly endAt: number | undefined
  readonly targetArn: string
  readonly roleArn: string
  readonly input: string | undefined
  readonly deadLetterArn: string | undefined
  /** Whether it is removed once it has fired for the last time. */
  readonly removedWhenDone: boolean
  /** As it was given, for those who ask. */
  readonly given: JsonObject
}

/** A date of the API (epoch seconds) or of a template (ISO text). */
const readDate = (value: unknown): number | undefined => {
  if (value === undefined || value === null) return undefined
  const at = typeof value === 'number' ? value * 1000 : Date.parse(String(value))
  return Number.isNaN(at) ? undefined : at
}

/**
 * Reads a schedule, of a template or of a call: both have the same form.
 * @returns a text that says what is wrong with it
 */
export const readScheduleDefinition = (name: string, arn: string, given: JsonObject): ScheduleDefinition | string => {
  const expression = String(given.ScheduleExpression ?? '')
  const timing = readScheduleExpression(expression)
  if (timing === undefined) return `its ScheduleExpression is ${expression}, which is malformed or not known here`
  const { Target: target, FlexibleTimeWindow: window } = given
  if (!isObject(window)) return 'its FlexibleTimeWindow is missing'
  if (!isObject(target) || typeof target.Arn !== 'string' || typeof target.RoleArn !== 'string')
    return 'its Target has no Arn or no RoleArn'
  if (!/^[\w.-]{1,64}$/.test(name)) return `its name ${name} is not of 1 to 64 letters, digits, _ . and -`
  const { DeadLetterConfig: deadLetter } = target
  return {
    name,
    arn,
    timing,
    group: String(given.GroupName ?? 'default'),
    enabled: given.State !== 'DISABLED',
    startAt: readDate(given.StartDate),
    endAt: readDate(given.EndDate),
    targetArn: target.Arn,
    roleArn: target.RoleArn,
    input: target.Input === undefined ? undefined : String(target.Input),
    deadLetterArn: isObject(deadLetter) ? String(deadLetter.Arn) : undefined,
    removedWhenDone: given.ActionAfterCompletion === 'DELETE',
    given,
  }
}

/** Reads a schedule of the template. @throws LocalCloudError `resource.invalid` */
export const readSchedule = (resource: Resource): ScheduleDefinition => {
  const read = readScheduleDefinition(resource.name, resource.arn, resource.properties)
  if (typeof read === 'string') throw invalidResource(resource, read)
  return read
}
