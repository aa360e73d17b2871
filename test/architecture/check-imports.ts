import { allowsPackage, areaOf, entryAreas, freeAreas, importLaw } from './import-law.js'
import { type Import, importsOf, packageOf } from './imports.js'
import { isNode, nameOf, type Source, type SyntaxNode, type Violation, violationAt, walkNodes } from './source.js'

const list = (names: readonly string[]) => (names.length === 0 ? 'nothing of ours' : names.join(', '))

const checkOurs = (area: string, areas: readonly string[], target: string): string | undefined =>
  target === area || areas.includes(target) ? undefined : `the import law: ${area} may import only ${list(areas)}`

const checkPackage = (area: string, named: Import): string | undefined => {
  const law = importLaw[area]
  const name = packageOf(named) ?? ''
  if (law === undefined) return undefined
  if (name.startsWith('node:')) return law.node ? undefined : `the import law: ${area} may not import builtins of Node`
  if (allowsPackage(law.packages, name)) return undefined
  return `the import law: ${area} may import only the packages ${law.packages.join(', ') || '(none)'}`
}

/** An entry is a door and nothing else: re-exports by name, from the folders that it opens. */
const checkEntry = (source: Source): Violation[] => {
  const entry = source.path.slice('lib/'.length, -'.ts'.length)
  const areas = entryAreas[entry]
  if (areas === undefined)
    return [
      violationAt(source, { start: 0 }, `no such entry in the import law; it has ${list(Object.keys(entryAreas))}`),
    ]
  return source.body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration' || statement.source === null)
      return [violationAt(source, statement, 'an entry of the package only re-exports names from its folders')]
    const target = areaOf(importsOf({ ...source, body: [statement] })[0]?.file ?? '')
    if (areas.includes(target)) return []
    const specifier = nameOf(statement.source)
    return [
      violationAt(source, statement, `re-exports ${specifier}; the import law: ${entry} opens only ${list(areas)}`),
    ]
  })
}

/** Core runs anywhere: it reads no environment. */
const checkEnvironment = (source: Source): Violation[] => {
  const found: Violation[] = []
  walkNodes(source.body, (node, parent) => {
    const isKey = parent?.type === 'Property' && parent.key === node
    const isTypeKey = parent?.type === 'TSPropertySignature' && parent.key === node
    const isMember = parent?.type === 'MemberExpression' && parent.property === node && !isGlobalThis(parent.object)
    if (node.type === 'Identifier' && node.name === 'process' && !isKey && !isTypeKey && !isMember)
      found.push(violationAt(source, node, 'uses process; the import law: core knows no process and no environment'))
  })
  return found
}

const isGlobalThis = (node: unknown): boolean => isNode(node) && (node as SyntaxNode).name === 'globalThis'

/**
 * Checks a file's imports against the law of its folder. Imports of types count: a type is a dependency too.
 * Each message names the import and the law.
 */
export const checkImports = (source: Source): readonly Violation[] => {
  const area = areaOf(source.path)
  if (freeAreas.includes(area)) return []
  if (area === 'entry') return checkEntry(source)
  const law = importLaw[area]
  if (law === undefined)
    return [
      violationAt(source, { start: 0 }, `the folder ${area} has no law: add it to test/architecture/import-law.ts`),
    ]
  const found = importsOf(source).flatMap((named) => {
    const broken = named.file === undefined ? checkPackage(area, named) : checkOurs(area, law.areas, areaOf(named.file))
    return broken === undefined ? [] : [violationAt(source, named, `imports ${named.specifier}; ${broken}`)]
  })
  return area === 'core' ? [...found, ...checkEnvironment(source)] : found
}
