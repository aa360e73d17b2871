import { allowsPackage, entryPackages } from './import-law.js'
import { importsOf, packageOf } from './imports.js'
import { type Source, type Violation, violationAt } from './source.js'

/**
 * Checks what importing an entry loads, through any number of files: the packages allowed to it, and no more. Optional
 * peers (the AWS SDK, the CDK, `pg`) must not be needed by those who don't use them.
 */
export const checkLoading = (sources: readonly Source[]): readonly Violation[] => {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const found: Violation[] = []
  for (const [entry, allowed] of Object.entries(entryPackages)) {
    const seen = new Set<string>()
    const load = (path: string, route: readonly string[]): void => {
      const source = byPath.get(path)
      if (source === undefined || seen.has(path)) return
      seen.add(path)
      const through = [...route, path]
      for (const named of importsOf(source)) {
        if (named.typeOnly || named.onDemand) continue
        const name = packageOf(named)
        if (named.file !== undefined) load(named.file, through)
        else if (name !== undefined && !name.startsWith('node:') && !allowsPackage(allowed, name))
          found.push(
            violationAt(source, named, `loads ${name} with the entry ${entry}, which may not (${through.join(' > ')})`),
          )
      }
    }
    load(`lib/${entry}.ts`, [])
  }
  return found
}
