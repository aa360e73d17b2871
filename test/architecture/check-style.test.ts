import { expect, it } from 'vitest'
import { checkStyle } from './check-style.js'
import { checkTime } from './check-time.js'
import { parseSource } from './source.js'

const broken = (text: string, path = 'lib/core/a.ts') =>
  checkStyle(parseSource(path, text)).map(({ message }) => message)
const brokenTime = (text: string, path = 'lib/core/a.ts') =>
  checkTime(parseSource(path, text)).map(({ message }) => message)

it.each([
  ["export * from './a.js'", 'export *'],
  ["export * as a from './a.js'", 'export *'],
  ['export default 1', 'default export'],
  ['const a = 1\nexport { a as default }', 'default export'],
  ["export { default } from './a.js'", 'default export'],
  ['enum A { B }', 'enum'],
  ['const enum A { B }', 'enum'],
  ['const a: any = 1', 'any'],
  ['const a = b as unknown as any[]', 'any'],
  ['type A = Record<string, any>', 'any'],
  ['const a = b!', 'non-null'],
  ['const a = b!.c', 'non-null'],
  ['let a!: string', 'non-null'],
  ['class A {}', 'class A'],
  ['class A extends Map {}', 'class A'],
  ['const a = class {}', 'class (unnamed)'],
  ['// @ts-ignore\nconst a = 1', 'silences'],
  ['// @ts-expect-error: no\nconst a = 1', 'silences'],
  ['/* biome-ignore lint: no */\nconst a = 1', 'silences'],
])('%s is refused', (text, rule) => {
  expect(broken(text)).toEqual([expect.stringContaining(rule)])
})

it.each([
  'export class A extends Error {}',
  'export class A extends PostdateError {}',
  'export class A extends Construct {}',
  'export class A extends cdk.Stack {}',
  'const a = b ! == c'.replace('! ==', '!=='),
  'const a = !b',
  "const any = 'any! enum'",
  'const a = b as unknown',
])('%s is allowed', (text) => {
  expect(broken(text)).toEqual([])
})

it('a configuration file has a default export, since its tool wants one', () => {
  expect(broken('export default {}', 'vitest.config.ts')).toEqual([])
})

it('a test may define a class of messages, and may say that a line must not compile', () => {
  expect(broken('class PlaceOrder {}\n// @ts-expect-error: wants text\nconst a = 1', 'test/core/a.test.ts')).toEqual([])
})

it.each(['it.only("a", f)', 'describe.only("a", f)', 'test.only.each([1])("a", f)'])('%s is refused', (text) => {
  expect(broken(text, 'test/core/a.test.ts')).toEqual([expect.stringContaining('.only')])
})

it.each(['Date.now()', 'new Date()', 'setTimeout(f, 1)', 'setInterval(f, 1)', 'performance.now()'])(
  'time comes from the clock: %s is refused in what a simulation runs',
  (text) => {
    expect(brokenTime(text)).toEqual([expect.stringContaining('time comes from the Clock')])
    expect(brokenTime(text, 'lib/memory/a.ts')).toHaveLength(1)
  },
)

it('an adapter may time a call over the network, and may not read the time', () => {
  expect(brokenTime('setTimeout(f, 1)', 'lib/sns/a.ts')).toEqual([])
  expect(brokenTime('Date.now()', 'lib/dynamodb/a.ts')).toHaveLength(1)
})

it('the clock itself, and what is not the product, may read the time', () => {
  expect(brokenTime('Date.now()', 'lib/core/clock.ts')).toEqual([])
  expect(brokenTime('Date.now()', 'lib/local/emulators/a.ts')).toEqual([])
  expect(brokenTime('Date.now()', 'test/core/a.test.ts')).toEqual([])
  expect(brokenTime('new Date(0); clock.now(); clearTimeout(timer)')).toEqual([])
})
