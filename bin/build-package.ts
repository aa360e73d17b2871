import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, transformSync } from 'esbuild'

/**
 * Builds what is published: `dist/` with ES modules and their types, from the compiler, and `dist-cjs/` with the same
 * files as CommonJS, for the many CDK apps and jest suites that `require`. Both lie as deep as `lib/`, so that a path
 * relative to a file means the same in all three.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const esmFolder = join(root, 'dist')
const cjsFolder = join(root, 'dist-cjs')

const compileEsm = (): void => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}

const filesBelow = (folder: string, ending: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith(ending))

const metaUrl = {
  define: { 'import.meta.url': 'importMetaUrl' },
  banner: { js: "'use strict';\nconst importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
}

// File by file and not bundled: an error class that two entries share has to be one class.
const writeCjs = async (): Promise<void> => {
  const files = filesBelow(esmFolder, '.js').map((file) => join(esmFolder, file))
  const asksForUrl = (file: string) => readFileSync(file, 'utf8').includes('import.meta.url')
  const options: BuildOptions = {
    outbase: esmFolder,
    outdir: cjsFolder,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
  }
  await build({ ...options, entryPoints: files.filter((file) => !asksForUrl(file)) })
  await build({ ...options, ...metaUrl, entryPoints: files.filter(asksForUrl) })
  for (const file of filesBelow(esmFolder, '.d.ts')) cpSync(join(esmFolder, file), join(cjsFolder, file))
  writeFileSync(join(cjsFolder, 'package.json'), `${JSON.stringify({ type: 'commonjs', sideEffects: false })}\n`)
}

/** The command line, as a file beside what it imports; a program is an ES module only. */
const writeProgram = (): void => {
  const program = readFileSync(join(root, 'bin', 'postdate.ts'), 'utf8')
  mkdirSync(join(esmFolder, 'bin'), { recursive: true })
  const { code } = transformSync(program, { loader: 'ts', format: 'esm', target: 'node20.19' })
  writeFileSync(join(esmFolder, 'bin', 'postdate.js'), code.replaceAll('"../lib/', '"../'), { mode: 0o755 })
}

rmSync(esmFolder, { recursive: true, force: true })
rmSync(cjsFolder, { recursive: true, force: true })
compileEsm()
await writeCjs()
writeProgram()
// The local cloud starts it as a process of its own, so no import leads to it, and the compiler leaves it out.
const bootstrap = join('local', 'functions', 'bootstrap.mjs')
for (const folder of [esmFolder, cjsFolder]) cpSync(join(root, 'lib', bootstrap), join(folder, bootstrap))
