import { isNode, nameOf, type Source, type SyntaxNode, type Violation, violationAt } from './source.js'

/** What a statement declares, by name; a destructuring has none. */
const declaredBy = (declaration: unknown): readonly (string | undefined)[] => {
  if (!isNode(declaration)) return []
  if (declaration.type === 'VariableDeclaration')
    return (declaration.declarations as SyntaxNode[]).map((declarator) => nameOf(declarator.id))
  return [nameOf(declaration.id)]
}

/** Whether a `/** *\/` comment stands right before, with nothing but space between. */
const isDocumented = (source: Source, { start }: SyntaxNode): boolean =>
  source.comments.some(
    (comment) =>
      comment.type === 'Block' &&
      /^\*[\s*]*[^\s*]/.test(comment.value) &&
      comment.end <= start &&
      source.text.slice(comment.end, start).trim() === '',
  )

/** The names of `export { a, b }` without a `from`. */
const exportedLater = (source: Source): ReadonlySet<string> =>
  new Set(
    source.body
      .filter((statement) => statement.type === 'ExportNamedDeclaration' && statement.source === null)
      .flatMap((statement) => (statement.specifiers as SyntaxNode[]).map((specifier) => nameOf(specifier.local) ?? '')),
  )

/**
 * Checks that every exported name (function, constant, class, interface, type) has a docstring. A name declared
 * elsewhere and re-exported has its docstring there. Of a function's overloads the first needs it.
 */
export const checkDocstrings = (source: Source): readonly Violation[] => {
  const later = exportedLater(source)
  const seen = new Set<string>()
  return source.body.flatMap((statement) => {
    const isExport = statement.type === 'ExportNamedDeclaration'
    return declaredBy(isExport ? statement.declaration : statement).flatMap((name = 'a destructured name') => {
      if ((!isExport && !later.has(name)) || seen.has(name)) return []
      seen.add(name)
      return isDocumented(source, statement)
        ? []
        : [violationAt(source, statement, `exports ${name} without a docstring: say what it promises, in /** */`)]
    })
  })
}
