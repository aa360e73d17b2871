import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The project's folder. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url))

let projects = 0

/**
 * Compiles files with the compiler options of the project; answers one line per error, `<file>(<line>,<column>): …`, with
 * paths from the project's folder. `paths` says where imported names are to be found.
 */
export const compileFiles = async (
  files: readonly string[],
  paths: Readonly<Record<string, readonly string[]>> = {},
): Promise<readonly string[]> => {
  // Where packages are found, and no other tool looks.
  const config = join(projectRoot, 'node_modules', `.postdate-types-${process.pid}-${++projects}.json`)
  const compilerOptions = { paths }
  writeFileSync(
    config,
    JSON.stringify({ extends: join(projectRoot, 'tsconfig.json'), compilerOptions, files, include: [] }),
  )
  const compiler = join(projectRoot, 'node_modules/typescript/bin/tsc')
  try {
    await promisify(execFile)(process.execPath, [compiler, '-p', config, '--pretty', 'false'], { cwd: projectRoot })
    return []
  } catch (error) {
    const { stdout } = error as { stdout?: string }
    if (stdout === undefined || stdout === '') throw error
    return stdout.split('\n').filter((line) => line !== '')
  } finally {
    rmSync(config, { force: true })
  }
}
