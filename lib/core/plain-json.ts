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

const whatIs = (value: object): string => {
  const name = Object.getPrototypeOf(value)?.constructor?.name
  return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'no plain object'
}

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
    return undefined
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  const isTop = above.length === 0
  if (!isTop && prototype !== Object.prototype && prototype !== null) return found(whatIs(value))
  if ('toJSON' in value) return found('an object with toJSON')
  if (Object.getOwnPropertySymbols(value).some((key) => Object.prototype.propertyIsEnumerable.call(value, key)))
    return found('an object with a symbol as a key')
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
