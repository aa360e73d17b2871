/**
 * Whether a value is an object as `{ … }` and JSON make them. Prototypes are not compared with `Object.prototype`: test
 * runners and VM contexts have several.
 */
export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null) return false
  const prototype: object | null = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return true
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf')
}

/** Whether a value is a Date, of any realm: of whatever only says that it is one, no time can be read. */
export const isDate = (value: unknown): value is Date => {
  try {
    Date.prototype.getTime.call(value)
    return true
  } catch {
    return false
  }
}

/** What an object is, in a few words: for errors. */
export const describeObject = (value: object): string => {
  if (Array.isArray(value)) return 'an array'
  if (isPlainObject(value)) return 'an object'
  const name = Object.getPrototypeOf(value)?.constructor?.name
  return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'no plain object'
}

/** What a value is, in a few words: for errors. */
export const describeValue = (value: unknown): string => {
  if (isDate(value)) return Number.isNaN(value.getTime()) ? 'an invalid Date' : `the Date ${value.toISOString()}`
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'bigint') return `${value}n`
  return typeof value === 'object' && value !== null ? describeObject(value) : String(value)
}
