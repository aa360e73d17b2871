import { LocalCloudError } from '../local-error.js'
import { isObject, type JsonObject } from './template.js'

/** Answers the references of a template. */
export interface References {
  /** What `Ref` gives for a resource, a parameter or a pseudo parameter. */
  ref(name: string): string
  /** What `Fn::GetAtt` gives. */
  attribute(logicalId: string, attribute: string): string
  /** What `Fn::ImportValue` gives: the export of another stack. */
  imported(name: string): unknown
}

const unresolvable = (what: string): LocalCloudError =>
  new LocalCloudError(
    'template.unresolvable',
    `the local cloud can't resolve ${what}`,
    'It knows Ref, Fn::GetAtt, Fn::Join, Fn::Sub, Fn::Select, Fn::Split and Fn::ImportValue.',
  )

const pairOf = (argument: unknown, what: string): readonly [unknown, unknown] => {
  if (Array.isArray(argument) && argument.length === 2) return [argument[0], argument[1]]
  throw unresolvable(`${what} of ${JSON.stringify(argument)}`)
}

const listOf = (value: unknown, what: string): readonly unknown[] => {
  if (Array.isArray(value)) return value
  throw unresolvable(`${what} of ${JSON.stringify(value)}`)
}

/** `${Name}`, `${Name.Attribute}` and `${!Literal}`. */
const substitute = (text: string, variables: JsonObject, references: References): string =>
  text.replace(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
    if (literal !== '') return `\${${name}}`
    if (variables[name] !== undefined) return String(resolveValue(variables[name], references))
    const dot = name.indexOf('.')
    return dot < 0 ? references.ref(name) : references.attribute(name.slice(0, dot), name.slice(dot + 1))
  })

const resolveFunction = (name: string, argument: unknown, references: References): unknown => {
  const resolved = (value: unknown) => resolveValue(value, references)
  switch (name) {
    case 'Ref':
      return references.ref(String(argument))
    case 'Fn::GetAtt': {
      const [logicalId, attribute] =
        typeof argument === 'string' ? (argument.split(/\.(.*)/s) as [string, string]) : pairOf(argument, name)
      return references.attribute(String(logicalId), String(resolved(attribute)))
    }
    case 'Fn::Join': {
      const [separator, parts] = pairOf(argument, name)
      return listOf(resolved(parts), name).join(String(separator))
    }
    case 'Fn::Sub':
      if (typeof argument === 'string') return substitute(argument, {}, references)
      return substitute(String(pairOf(argument, name)[0]), pairOf(argument, name)[1] as JsonObject, references)
    case 'Fn::Select': {
      const [index, parts] = pairOf(argument, name)
      return listOf(resolved(parts), name)[Number(resolved(index))]
    }
    case 'Fn::Split': {
      const [separator, text] = pairOf(argument, name)
      return String(resolved(text)).split(String(separator))
    }
    case 'Fn::ImportValue':
      return references.imported(String(resolved(argument)))
    default:
      throw unresolvable(name)
  }
}

/**
 * Replaces the intrinsic functions in a value of a template, at any depth.
 * @throws LocalCloudError `template.unresolvable`, for a function that is not known
 */
export const resolveValue = (value: unknown, references: References): unknown => {
  if (Array.isArray(value)) return value.map((element) => resolveValue(element, references))
  if (!isObject(value)) return value
  const entries = Object.entries(value)
  const [only] = entries
  if (entries.length === 1 && only !== undefined && (only[0] === 'Ref' || only[0].startsWith('Fn::')))
    return resolveFunction(only[0], only[1], references)
  return Object.fromEntries(entries.map(([key, element]) => [key, resolveValue(element, references)]))
}
