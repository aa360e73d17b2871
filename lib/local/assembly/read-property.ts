import { LocalCloudError } from '../local-error.js'
import { isObject, type JsonObject, type Resource } from './template.js'

/** An error that names the resource at fault, and why AWS would refuse it. */
export const invalidResource = ({ path, type }: Pick<Resource, 'path' | 'type'>, rule: string): LocalCloudError =>
  new LocalCloudError('resource.invalid', `${path} (${type}): ${rule}`, 'AWS would refuse it, too.')

/** A number of a resource, which templates may write as text. @throws LocalCloudError `resource.invalid` */
export const numberOf = (resource: Resource, property: string, fallback: number): number => {
  const value = resource.properties[property]
  if (value === undefined) return fallback
  const number = Number(value)
  if (!Number.isFinite(number)) throw invalidResource(resource, `${property} is ${JSON.stringify(value)}, no number`)
  return number
}

/** A text of a resource. @throws LocalCloudError `resource.invalid` */
export const textOf = (resource: Resource, property: string): string => {
  const value = resource.properties[property]
  if (typeof value !== 'string' || value === '') throw invalidResource(resource, `${property} is missing or no text`)
  return value
}

/** A text of a resource that may be missing. */
export const optionalTextOf = (resource: Resource, property: string): string | undefined =>
  resource.properties[property] === undefined ? undefined : textOf(resource, property)

/** An object of a resource; empty when it is missing. Objects that are given as JSON text are read. */
export const objectOf = (resource: Resource, property: string): JsonObject => {
  const value = resource.properties[property]
  if (value === undefined) return {}
  const read: unknown = typeof value === 'string' ? JSON.parse(value) : value
  if (!isObject(read)) throw invalidResource(resource, `${property} is no object`)
  return read
}

/** A list of a resource; empty when it is missing. @throws LocalCloudError `resource.invalid` */
export const listOf = (resource: Resource, property: string): readonly unknown[] => {
  const value = resource.properties[property] ?? []
  if (!Array.isArray(value)) throw invalidResource(resource, `${property} is no list`)
  return value
}

/** Whether a flag of a resource is set; templates may write it as text. */
export const flagOf = (resource: Resource, property: string, fallback: boolean): boolean => {
  const value = resource.properties[property]
  return value === undefined ? fallback : value === true || value === 'true'
}
