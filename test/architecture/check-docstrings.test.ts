import { expect, it } from 'vitest'
import { checkDocstrings } from './check-docstrings.js'
import { parseSource } from './source.js'

const broken = (text: string) => checkDocstrings(parseSource('lib/core/a.ts', text)).map(({ message }) => message)

it.each([
  'export const name = 1',
  'export function name() {}',
  'export async function name() {}',
  'export class name extends Error {}',
  'export interface name {}',
  'export type name = string',
  'export declare const name: string',
  'const name = 1\nexport { name }',
  'type name = string\nexport type { name }',
  '// a comment\nexport const name = 1',
  '/* a comment */\nexport const name = 1',
  '/** */\nexport const name = 1',
  '/** Of another. */\nconst other = 1\nexport const name = other',
])('an exported name without a docstring is refused: %s', (text) => {
  expect(broken(text)).toEqual(['exports name without a docstring: say what it promises, in /** */'])
})

it.each([
  '/** It is documented. */\nexport const name = 1',
  '/**\n * It is documented.\n */\nexport interface name {}',
  '/** It is documented. */\nconst name = 1\nexport { name }',
  '/** The first overload has it. */\nexport function name(): void\nexport function name(a?: string): void {}',
  "export { name } from './other.js'",
  "import { name } from './other.js'\nexport { name }",
  'const name = 1',
  'export {}',
])('is content with: %s', (text) => {
  expect(broken(text)).toEqual([])
})

it('each of several names in one statement is told', () => {
  expect(broken('export const one = 1, two = 2')).toHaveLength(2)
  expect(broken('export const { one } = two')).toHaveLength(1)
})
