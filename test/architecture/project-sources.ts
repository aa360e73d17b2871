import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSource, type Source } from './source.js'

/** The project's root. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url))

const skipped = new Set(['node_modules', 'dist', 'dist-cjs', 'cdk.out', 'assets'])

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : filesBelow(join(folder, entry.name))
    return [join(folder, entry.name)]
  })

/** Every file of the folders that hold code, from the root, with `/`. */
export const projectFiles = (): readonly string[] =>
  readdirSync(projectRoot, { withFileTypes: true })
    .filter(
      (entry) => entry.isDirectory() && ['lib', 'lambdas', 'bin', 'test', 'bench', 'examples'].includes(entry.name),
    )
    .flatMap((entry) => filesBelow(join(projectRoot, entry.name)))
    .map((file) => relative(projectRoot, file).split(sep).join('/'))
    .sort()

/** The TypeScript files among them, parsed. */
export const projectSources = (): readonly Source[] =>
  projectFiles()
    .filter((path) => /\.[cm]?tsx?$/.test(path))
    .map((path) => parseSource(path, readFileSync(join(projectRoot, path), 'utf8')))
