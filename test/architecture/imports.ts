import { posix } from 'node:path'
import { isNode, nameOf, type Source, type SyntaxNode, walkNodes } from './source.js'

/** One file or package named by another. */
export interface Import {
  /** As written. */
  readonly specifier: string
  /** The file it means, from the project's root, ending in `.ts`; `undefined` for a package or a builtin of Node. */
  readonly file: string | undefined
  readonly start: number
  /** Only types are taken: nothing is loaded. */
  readonly typeOnly: boolean
  /** Loaded when a call asks for it, and not with the file. */
  readonly onDemand: boolean
}

/** The file that a relative import means. */
const fileOf = (path: string, specifier: string): string | undefined =>
  specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier).replace(/\.(c|m)?js$/, '.$1ts') : undefined

/** With `verbatimModuleSyntax`, `import { type A } from` loads the file all the same; only `import type` does not. */
const typesOnly = (node: SyntaxNode): boolean => node.importKind === 'type' || node.exportKind === 'type'

const readImport = (node: SyntaxNode): Omit<Import, 'specifier' | 'file' | 'start'> & { source: unknown } => {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return { source: node.source, typeOnly: typesOnly(node), onDemand: false }
    case 'TSExternalModuleReference':
      return { source: node.expression, typeOnly: false, onDemand: false }
    case 'TSImportType':
      return { source: node.source, typeOnly: true, onDemand: false }
    case 'ImportExpression':
      return { source: node.source, typeOnly: false, onDemand: true }
    case 'CallExpression': {
      const { callee } = node
      const called = isNode(callee) && callee.type === 'MemberExpression' ? callee.object : callee
      const [argument] = node.arguments as unknown[]
      return { source: nameOf(called) === 'require' ? argument : undefined, typeOnly: false, onDemand: true }
    }
    default:
      return { source: undefined, typeOnly: false, onDemand: false }
  }
}

/** Every import of a file: static, of types, `import()` and `require()`. An `import()` of a computed name is not seen. */
export const importsOf = (source: Source): readonly Import[] => {
  const found: Import[] = []
  walkNodes(source.body, (node) => {
    const { source: named, ...how } = readImport(node)
    if (!isNode(named) || named.type !== 'Literal' || typeof named.value !== 'string') return
    found.push({ specifier: named.value, file: fileOf(source.path, named.value), start: node.start, ...how })
  })
  return found
}

/** The package of an import, e.g. `@aws-sdk/client-sns`, or `node:fs`; `undefined` for a file of ours. */
export const packageOf = ({ specifier, file }: Import): string | undefined => {
  if (file !== undefined) return undefined
  const [scope = '', name = ''] = specifier.split('/')
  return scope.startsWith('@') ? `${scope}/${name}` : scope
}
