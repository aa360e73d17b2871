import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { compileFiles, projectRoot } from '../support/compile-files.js'

const folder = join(projectRoot, 'test/types')
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => join(folder, name))

it('what must compile does, and what must not does not', async () => {
  expect(await compileFiles(files)).toEqual([])
})

it('these files are compiled with all others by the check of types', () => {
  const { include } = JSON.parse(readFileSync(join(projectRoot, 'tsconfig.json'), 'utf8')) as { include: string[] }
  const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
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
  const text = files.map((name) => readFileSync(name, 'utf8')).join('\n')
  const calls = [...text.matchAll(/(?:\/\/ (@ts-expect-error) .*\n)? +\(\) =>\s+([a-z]+\.[a-zA-Z]+)\(/g)].filter(
    ([, , name]) => name === site,
  )
  const refused = calls.filter(([, expected]) => expected !== undefined)
  expect(refused.length).toBeGreaterThanOrEqual(least)
  expect(calls.length - refused.length).toBeGreaterThanOrEqual(3)
})
