import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))
const files = readdirSync(here).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))

/** A project of these files alone, with the compiler options of the whole one; where no other tool looks. */
const config = join(root, 'node_modules', `.postdate-types-${process.pid}.json`)
afterAll(() => rmSync(config, { force: true }))

const compile = async (): Promise<string> => {
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, 'tsconfig.json'), files: files.map((name) => join(here, name)) }),
  )
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', config, '--pretty', 'false'], {
      cwd: root,
    })
    return stdout
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

it('what must compile does, and what must not does not', async () => {
  expect(await compile()).toBe('')
})

it('these files are compiled with all others by the check of types', () => {
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { include: string[] }
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  expect(include).toContain('test')
  expect(scripts['check:types']).toContain('tsc -p .')
  expect(scripts.check).toContain('check:types')
})

it.each([
  ['bus.send', 20],
  ['bus.publish', 4],
  ['ctx.send', 4],
  ['ctx.publish', 4],
])('%s has refusals and forms that are taken', (site, least) => {
  const text = files.map((name) => readFileSync(join(here, name), 'utf8')).join('\n')
  const calls = [...text.matchAll(/(?:\/\/ (@ts-expect-error) .*\n)? +\(\) =>\s+([a-z]+\.[a-zA-Z]+)\(/g)].filter(
    ([, , name]) => name === site,
  )
  const refused = calls.filter(([, expected]) => expected !== undefined)
  expect(refused.length).toBeGreaterThanOrEqual(least)
  expect(calls.length - refused.length).toBeGreaterThanOrEqual(3)
})
