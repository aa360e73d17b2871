import { isObject, type JsonObject } from '../assembly/template.js'
import type { MessageAttribute } from './queue-client.js'

/** A filter on the attributes of messages. */
export interface FilterPolicy {
  /** Whether a message passes. */
  matches(attributes: Readonly<Record<string, MessageAttribute>>): boolean
}

/** AWS refuses a filter whose keys' counts of values multiply to more. @see https://docs.aws.amazon.com/sns/latest/dg/subscription-filter-policy-constraints.html */
const MOST_VALUES = 150

/** AWS refuses a filter with more keys. */
const MOST_KEYS = 5

type Condition = (attribute: MessageAttribute | undefined) => boolean

const isNumber = ({ DataType: type }: MessageAttribute) => type.startsWith('Number')

/** The values that a filter compares: a `String.Array` has several. */
const valuesOf = (attribute: MessageAttribute): readonly unknown[] => {
  const text = attribute.StringValue ?? ''
  if (isNumber(attribute)) return [Number(text)]
  if (attribute.DataType !== 'String.Array') return [text]
  const list: unknown = JSON.parse(text)
  return Array.isArray(list) ? list : [text]
}

const some =
  (test: (value: unknown) => boolean): Condition =>
  (attribute) =>
    attribute !== undefined && valuesOf(attribute).some(test)

const isText = (value: unknown): value is string => typeof value === 'string'

const comparisons: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  '=': (value, bound) => value === bound,
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
}

const numeric = (rule: readonly unknown[]): Condition =>
  some((value) => {
    for (let place = 0; place < rule.length; place += 2)
      if (comparisons[String(rule[place])]?.(Number(value), Number(rule[place + 1])) !== true) return false
    return typeof value === 'number'
  })

const anythingBut = (rule: unknown): Condition | undefined => {
  if (isObject(rule)) {
    const { prefix, suffix } = rule
    if (isText(prefix)) return some((value) => isText(value) && !value.startsWith(prefix))
    return isText(suffix) ? some((value) => isText(value) && !value.endsWith(suffix)) : undefined
  }
  const refused: readonly unknown[] = Array.isArray(rule) ? rule : [rule]
  return some((value) => !refused.includes(value))
}

const conditionOf = (rule: unknown): Condition | undefined => {
  if (!isObject(rule)) return rule === null || Array.isArray(rule) ? undefined : some((value) => value === rule)
  const { prefix, suffix } = rule
  if (isText(prefix)) return some((value) => isText(value) && value.startsWith(prefix))
  if (isText(suffix)) return some((value) => isText(value) && value.endsWith(suffix))
  if (typeof rule.exists === 'boolean') return (attribute) => (attribute !== undefined) === rule.exists
  if (Array.isArray(rule.numeric)) return numeric(rule.numeric)
  const equal = rule['equals-ignore-case']
  if (isText(equal)) return some((value) => isText(value) && value.toLowerCase() === equal.toLowerCase())
  return 'anything-but' in rule ? anythingBut(rule['anything-but']) : undefined
}

/**
 * Reads a filter policy.
 * @param refuse makes the error that names the subscription.
 * @throws what `refuse` makes, for a policy that AWS refuses or that the local cloud does not know
 */
export const readFilterPolicy = (policy: JsonObject, refuse: (rule: string) => Error): FilterPolicy => {
  const keys = Object.entries(policy)
  if (keys.length > MOST_KEYS) throw refuse(`its filter has ${keys.length} keys, above ${MOST_KEYS}`)
  let combinations = 1
  const conditions = keys.map(([key, rules]): [string, readonly Condition[]] => {
    if (!Array.isArray(rules) || rules.length === 0) throw refuse(`its filter's ${key} is no list of conditions`)
    combinations *= rules.length
    return [
      key,
      rules.map((rule: unknown) => {
        const condition = conditionOf(rule)
        if (condition === undefined) throw refuse(`its filter has ${JSON.stringify(rule)}, which is not known here`)
        return condition
      }),
    ]
  })
  if (combinations > MOST_VALUES)
    throw refuse(`its filter has ${combinations} combinations of values, above ${MOST_VALUES}`)
  return {
    matches: (attributes) => conditions.every(([key, any]) => any.some((condition) => condition(attributes[key]))),
  }
}
