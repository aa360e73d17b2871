import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { compileFiles, projectRoot } from '../support/compile-files.js'
import { callSites } from './schedule-forms.js'

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
  ['bus.send', 30],
  ['bus.publish', 8],
  ['ctx.send', 8],
  ['ctx.publish', 7],
] as const)('%s is called in at least %i ways', (site, least) => {
  expect(callSites[site].length).toBeGreaterThanOrEqual(least)
})
