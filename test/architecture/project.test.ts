import { expect, it } from 'vitest'
import { checkDocstrings } from './check-docstrings.js'
import { checkLength, checkPath } from './check-files.js'
import { checkImports } from './check-imports.js'
import { checkLoading } from './check-loading.js'
import { checkStyle } from './check-style.js'
import { checkTime } from './check-time.js'
import { projectFiles, projectSources } from './project-sources.js'
import { formatViolation, type Source, type Violation } from './source.js'

const files = projectFiles()
const sources = projectSources()

const brokenBy = (check: (source: Source) => readonly Violation[], only = '') =>
  sources
    .filter(({ path }) => path.startsWith(only))
    .flatMap(check)
    .map(formatViolation)

it('the sources of the project are seen', () => {
  const paths = sources.map(({ path }) => path)
  expect(paths).toContain('lib/core/lease.ts')
  expect(paths).toContain('test/architecture/project.test.ts')
})

it('every import keeps to the law of its folder', () => {
  expect(brokenBy(checkImports)).toEqual([])
})

it('no entry of the package loads a package that it may not', () => {
  expect(checkLoading(sources).map(formatViolation)).toEqual([])
})

it('no file is above 300 lines', () => {
  expect(brokenBy(checkLength)).toEqual([])
})

it('no file has a name that says nothing', () => {
  expect(files.flatMap(checkPath).map(formatViolation)).toEqual([])
})

it('every exported name of the library has a docstring', () => {
  expect(brokenBy(checkDocstrings, 'lib/')).toEqual([])
})

it('every file keeps to the house style', () => {
  expect(brokenBy(checkStyle)).toEqual([])
})

it('time comes from the clock', () => {
  expect(brokenBy(checkTime)).toEqual([])
})
