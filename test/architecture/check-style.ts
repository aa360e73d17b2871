import { areaOf } from './import-law.js'
import { isNode, nameOf, type Source, type SyntaxNode, type Violation, violationAt, walkNodes } from './source.js'

/** Classes that are not what they extend: errors, and constructs of the CDK. */
const allowedParents = /(Error|Construct|Stack|Stage|App)$/

const areasWithClasses = ['test', 'bench', 'examples']

const isDefaultExport = (node: SyntaxNode): boolean =>
  node.type === 'ExportDefaultDeclaration' || (node.type === 'ExportSpecifier' && nameOf(node.exported) === 'default')

const parentOf = (node: SyntaxNode): string => {
  const parent = node.superClass
  return (isNode(parent) && parent.type === 'MemberExpression' ? nameOf(parent.property) : nameOf(parent)) ?? ''
}

const isClass = (node: SyntaxNode): boolean => node.type === 'ClassDeclaration' || node.type === 'ClassExpression'

const focusable = ['it', 'test', 'describe', 'bench']

/** The message for a node that house style refuses; `undefined` for all others. */
const refuse = (node: SyntaxNode, source: Source): string | undefined => {
  if (node.type === 'ExportAllDeclaration') return 'has export *: name what is exported'
  if (isDefaultExport(node) && !source.path.endsWith('.config.ts')) return 'has a default export: name it'
  if (node.type === 'TSEnumDeclaration') return 'has an enum: use a union of texts'
  if (node.type === 'TSAnyKeyword') return 'has the type any: use unknown, and look'
  if (node.type === 'TSNonNullExpression' || node.definite === true) return 'has a non-null !: handle the missing value'
  if (isClass(node) && !areasWithClasses.includes(areaOf(source.path)) && !allowedParents.test(parentOf(node)))
    return `has the class ${nameOf(node.id) ?? '(unnamed)'}: classes are for errors and constructs, use functions`
  if (
    node.type === 'MemberExpression' &&
    nameOf(node.property) === 'only' &&
    focusable.includes(nameOf(node.object) ?? '')
  )
    return 'has .only, which leaves the other tests out'
  return undefined
}

const silencer = /^\W*(biome-ignore|@ts-ignore|@ts-nocheck|eslint-disable)|^\W*@ts-expect-error/

/** Comments that silence a check. A test may say that a line must not compile. */
const checkComments = (source: Source): Violation[] =>
  source.comments.flatMap((comment) => {
    const match = silencer.exec(comment.value)
    if (match === null || (match[1] === undefined && areaOf(source.path) === 'test')) return []
    return [violationAt(source, comment, 'silences a check: mend the cause')]
  })

/**
 * Checks what the compiler and the linter let pass, and what they may be told to let pass: `export *`, default exports,
 * enums, `any`, `!`, classes other than errors and constructs, `.only`, comments that silence a check.
 */
export const checkStyle = (source: Source): readonly Violation[] => {
  const found: Violation[] = []
  walkNodes(source.body, (node) => {
    const message = refuse(node, source)
    if (message !== undefined) found.push(violationAt(source, node, message))
  })
  return [...found, ...checkComments(source)]
}
