import { describeObject, isPlainObject } from './describe-value.js'
import { DEFAULT_DELAY } from './message.js'

/** A place in a value that JSON would change or lose. */
export interface NotPlain {
  /** Where, e.g. `lines[2].price`. */
  readonly path: string
  /** What is there. */
  readonly what: string
}

const step = (path: string, key: string | number): string => {
  if (typeof key === 'number') return `${path}[${key}]`
  if (!/^[\w$]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

/** Deeper than any message, and far from where `JSON.stringify` runs out of stack. */
const DEEPEST = 500

/** What a message of a class may be, since its own properties are all there is to it. */
const isRecord = (value: object) => !(Symbol.iterator in value) && !(value instanceof Error)

const hasSymbolKey = (value: object) =>
  Object.getOwnPropertySymbols(value).some(
    (key) => key !== DEFAULT_DELAY && Object.prototype.propertyIsEnumerable.call(value, key),
  )

const inspect = (value: unknown, path: string, above: readonly object[]): NotPlain | undefined => {
  const found = (what: string): NotPlain => ({ path: path === '' ? 'the message' : path, what })
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : found(String(value))
  if (typeof value !== 'object') return found(typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`)
  if (above.includes(value)) return found('a cycle')
  if (above.length >= DEEPEST) return found(`nested deeper than ${DEEPEST} levels`)
  const within = [...above, value]
  if (Array.isArray(value)) {
    // `entries()` visits holes too, which JSON would turn into null.
    for (const [index, item] of value.entries()) {
      const bad = inspect(item, step(path, index), within)
      if (bad) return bad
    }
    // What a match of a regular expression has besides its items, say, would be lost.
    const own = Object.keys(value).find((key, index) => key !== String(index))
    return own === undefined ? undefined : found(`an array with the property ${own}`)
  }
  const mayBeOfClass = above.length === 0 && isRecord(value)
  if (!mayBeOfClass && !isPlainObject(value)) return found(describeObject(value))
  if ('toJSON' in value) return found('an object with toJSON')
  if (hasSymbolKey(value)) return found('an object with a symbol as a key')
  for (const [key, item] of Object.entries(value)) {
    // A property that is undefined is left out by JSON and means the same: optional properties are written that way.
    const bad = item === undefined ? undefined : inspect(item, step(path, key), within)
    if (bad) return bad
  }
  return undefined
}

/**
 * The first place in a message that would not survive JSON as it is: functions, symbols, BigInt, NaN, cycles, dates, maps,
 * class instances, holes, symbols as keys. The message itself may be an instance of a class. `undefined`: all of it is plain.
 */
export const findNotPlain = (message: object): NotPlain | undefined => inspect(message, '', [])
