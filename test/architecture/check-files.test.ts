import { expect, it } from 'vitest'
import { checkLength, checkPath } from './check-files.js'
import { parseSource } from './source.js'

const lines = (count: number) => 'export {}\n'.repeat(count)

it('a file of 300 lines is allowed, with or without a last line break', () => {
  expect(checkLength(parseSource('lib/core/a.ts', lines(300)))).toEqual([])
  expect(checkLength(parseSource('lib/core/a.ts', `${lines(299)}export {}`))).toEqual([])
})

it('a file of 301 lines is refused', () => {
  expect(checkLength(parseSource('lib/core/a.ts', lines(301)))).toEqual([
    { path: 'lib/core/a.ts', line: 301, message: 'has 301 lines, above 300: part it' },
  ])
  expect(checkLength(parseSource('test/a.test.ts', `${lines(300)}export {}`))).toHaveLength(1)
})

it.each([
  'lib/core/date-utils.ts',
  'lib/core/util.ts',
  'lib/helpers/a.ts',
  'lib/core/lease-manager.ts',
  'lib/base/a.ts',
  'test/common.test.ts',
])('the name %s is refused', (path) => {
  expect(checkPath(path)).toHaveLength(1)
})

it.each(['lib/core/read-database.ts', 'lib/core/baseline.ts', 'test/support/a.ts'])(
  'the name %s is allowed',
  (path) => {
    expect(checkPath(path)).toEqual([])
  },
)
