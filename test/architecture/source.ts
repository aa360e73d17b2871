import { type Comment, parseSync } from 'oxc-parser'

/** A node of the syntax tree, read as plain data. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [property: string]: unknown
}

/** A source file, parsed. */
export interface Source {
  /** From the project's root, with `/`. */
  readonly path: string
  readonly text: string
  readonly body: readonly SyntaxNode[]
  readonly comments: readonly Comment[]
}

/** A rule that was broken, and where. */
export interface Violation {
  readonly path: string
  /** From 1. */
  readonly line: number
  /** What is wrong, and the rule. */
  readonly message: string
}

/** Whether a value is a node of the tree. */
export const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'

/**
 * Parses a file.
 * @throws Error when the text is no TypeScript.
 */
export const parseSource = (path: string, text: string): Source => {
  const { program, comments, errors } = parseSync(path, text, { lang: 'ts', sourceType: 'module', astType: 'ts' })
  const [first] = errors
  if (first !== undefined) throw new Error(`${path}: ${first.message}`)
  return { path, text, body: program.body as unknown as SyntaxNode[], comments }
}

/** The line of an offset, from 1. */
export const lineAt = (source: Source, offset: number): number => source.text.slice(0, offset).split('\n').length

/** Says that a rule is broken at a node or comment of a file. */
export const violationAt = (source: Source, at: { readonly start: number }, message: string): Violation => ({
  path: source.path,
  line: lineAt(source, at.start),
  message,
})

/** How a violation is printed: a path that editors open, and the message. */
export const formatViolation = ({ path, line, message }: Violation): string => `${path}:${line} ${message}`

/** Calls back for every node below, the given ones included. */
export const walkNodes = (nodes: readonly unknown[], visit: (node: SyntaxNode, parent?: SyntaxNode) => void): void => {
  const walk = (value: unknown, parent: SyntaxNode | undefined): void => {
    if (Array.isArray(value)) for (const entry of value) walk(entry, parent)
    else if (isNode(value)) {
      visit(value, parent)
      for (const child of Object.values(value)) if (typeof child === 'object') walk(child, value)
    }
  }
  walk(nodes, undefined)
}

/** The name of an identifier, or the value of a text literal; `undefined` for other nodes. */
export const nameOf = (node: unknown): string | undefined => {
  if (!isNode(node)) return undefined
  if (typeof node.name === 'string') return node.name
  return typeof node.value === 'string' ? node.value : undefined
}
