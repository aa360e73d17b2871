import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Finished, run } from './run.js'
import { installFiles, type PackedFile, readTarball } from './tarball.js'

/** The project's root. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url))

/** The package as it would be published, and room to install it. */
export interface PackedProject {
  /** The path of the tarball. */
  readonly tarball: string
  readonly files: readonly PackedFile[]
  /** Makes a project that has the package and the given dependencies, by name, installed; answers its folder. */
  installWith(dependencies: readonly string[]): string
  remove(): void
}

const published = ['bin', 'docs', 'lambdas', 'lib', 'CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']

const isPublished = (name: string): boolean => published.includes(name) || /^tsconfig.*\.json$/.test(name)

const succeed = (step: string, { status, output }: Finished): void => {
  if (status !== 0) throw new Error(`${step} ended with ${status}:\n${output}`)
}

const install = (files: readonly PackedFile[], dependencies: readonly string[], folder: string): void => {
  installFiles(files, join(folder, 'node_modules/postdate'))
  for (const name of dependencies) {
    mkdirSync(join(folder, 'node_modules', name, '..'), { recursive: true })
    symlinkSync(join(projectRoot, 'node_modules', name), join(folder, 'node_modules', name), 'dir')
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true }))
}

/**
 * Builds and packs the project as `npm publish` does, in a copy, so that neither what lies in `dist/` nor another run
 * gets in the way.
 */
export const packProject = async (): Promise<PackedProject> => {
  const room = mkdtempSync(join(tmpdir(), 'postdate-package-'))
  const copy = join(room, 'project')
  mkdirSync(copy)
  for (const name of readdirSync(projectRoot).filter(isPublished))
    cpSync(join(projectRoot, name), join(copy, name), { recursive: true })
  symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'), 'dir')
  succeed('npm pack', await run('npm', ['pack', '--pack-destination', room], copy))
  const tarball = readdirSync(room).find((name) => name.endsWith('.tgz'))
  if (tarball === undefined) throw new Error('npm pack wrote no tarball')
  const files = readTarball(readFileSync(join(room, tarball)))
  return {
    tarball: join(room, tarball),
    files,
    installWith: (dependencies) => {
      const folder = mkdtempSync(join(room, 'consumer-'))
      install(files, dependencies, folder)
      return folder
    },
    remove: () => rmSync(room, { recursive: true, force: true }),
  }
}
