import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The project's folder. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url))

let projects = 0

/**
 * Compiles files with the compiler options of the project, less those that are given; answers one line per error,
 * `<file>(<line>,<column>): …`, with paths from the project's folder.
 */
export const compileFiles = async (
  files: readonly string[],
  compilerOptions: Readonly<Record<string, unknown>> = {},
): Promise<readonly string[]> => {
  // Where packages are found, and no other tool looks.
  const config = join(projectRoot, 'node_modules', `.postdate-types-${process.pid}-${++projects}.json`)
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
