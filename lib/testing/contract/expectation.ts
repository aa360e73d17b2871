/** A value as text, the same for equal values: keys in order, `undefined` as nothing, long texts cut in the middle. */
export const showValue = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, part: unknown) => {
      if (part === undefined) return undefined
      if (typeof part === 'string' && part.length > 400) return `${part.slice(0, 200)} … ${part.length} characters`
      return isPlainObject(part) ? Object.fromEntries(sortedEntries(part)) : part
    },
    2,
  ) ?? 'undefined'

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const sortedEntries = (value: Record<string, unknown>) =>
  Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))

/** Whether two values of plain data are equal. A property that is `undefined` is as good as none. */
export const isEqual = (one: unknown, other: unknown): boolean => {
  if (Object.is(one, other)) return true
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((part, index) => isEqual(part, other[index]))
  }
  if (!isPlainObject(one) || !isPlainObject(other)) return false
  const [left, right] = [sortedEntries(one), sortedEntries(other)]
  return (
    left.length === right.length &&
    left.every(([key, part], index) => key === right[index]?.[0] && isEqual(part, right[index]?.[1]))
  )
}

/** @throws Error that prints both, unless they are equal. */
export const expectEqual = (what: string, found: unknown, expected: unknown): void => {
  if (!isEqual(found, expected)) {
    throw new Error(`${what}\nexpected: ${showValue(expected)}\nfound: ${showValue(found)}`)
  }
}

/** @throws Error that prints all, unless what was found is one of those expected. */
export const expectOneOf = (what: string, found: unknown, expected: readonly unknown[]): void => {
  if (!expected.some((one) => isEqual(found, one))) {
    throw new Error(`${what}\nexpected one of: ${showValue(expected)}\nfound: ${showValue(found)}`)
  }
}

/** @throws Error unless the condition holds. */
export const expectTrue = (what: string, condition: boolean): void => expectEqual(what, condition, true)
