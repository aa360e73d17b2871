import { describe, expect, it } from 'vitest'
import { type Block, keepsPromise, readBlocks, readPromises } from './read-blocks.js'
import { compileBlocks, runBlocks } from './run-blocks.js'

/** Pages whose blocks are one program, each going on where the last one ended. */
const oneProgram = [
  'docs/guides/scheduling.md',
  'docs/guides/handlers.md',
  'docs/guides/redelivery.md',
  'docs/guides/recalling.md',
]
/** Pages whose blocks are programs of their own. */
const ownPrograms = ['README.md', 'docs/guides/deploying.md']
/** Pages whose blocks are programs that need what is not here: a table, a queue, an app. */
const compiledOnly = ['docs/guides/alarms.md', 'docs/guides/local-cloud.md']

const modules: readonly (readonly [string, readonly Block[]])[] = [
  ...oneProgram.map((page) => [page, readBlocks(page)] as const),
  ...ownPrograms.flatMap((page) => readBlocks(page).map((block) => [`${page}:${block.line}`, [block]] as const)),
]

it('every block compiles', async () => {
  const others = compiledOnly.flatMap(readBlocks).map((block) => [block])
  expect(others.length).toBeGreaterThanOrEqual(compiledOnly.length)
  expect(await compileBlocks([...modules.map(([, blocks]) => blocks), ...others])).toEqual([])
})

it.each(modules)('%s runs to its end and prints what it says', async (_name, blocks) => {
  const { printed, exitCode, errors } = await runBlocks(blocks)
  expect(exitCode, errors).toBe(0)
  const broken = readPromises(blocks).flatMap(({ line, text }) => {
    const texts = printed.filter((one) => one.line === line).map((one) => one.text)
    const isKept = texts.length > 0 && texts.every((one) => keepsPromise(one, text))
    return isKept ? [] : [{ line, promised: text, printed: texts }]
  })
  expect(broken).toEqual([])
})

describe('the runner', () => {
  const blockOf = (...lines: string[]): Block => ({ page: 'docs/page.md', line: 40, lines })

  it('says where in the page a block does not compile', async () => {
    const block = blockOf("import { createBus } from 'postdate'", 'createBus({ nam: 1 })')
    const [error = ''] = await compileBlocks([[blockOf('const fine = 1')], [block]])
    expect(error).toMatch(/^docs\/page\.md:41: error TS/)
  })

  it('notices a block that throws, and one that never ends', async () => {
    const { exitCode, errors } = await runBlocks([blockOf('', "throw new Error('broken')")])
    expect(exitCode).toBe(1)
    expect(errors).toContain('broken')
    expect(errors).toContain('docs/page.md:41')
    expect((await runBlocks([blockOf('await new Promise(() => {})')])).exitCode).not.toBe(0)
  })

  it('compares what a line prints with what it says', async () => {
    const block = blockOf("console.log({ a: 1, b: 'x' }) // => { a: 1, b: '…' }", 'console.log(2) // => 3')
    const { printed } = await runBlocks([block])
    expect(readPromises([block])).toEqual([
      { line: 40, text: "{ a: 1, b: '…' }" },
      { line: 41, text: '3' },
    ])
    expect(printed).toEqual([
      { line: 40, text: "{ a: 1, b: 'x' }" },
      { line: 41, text: '2' },
    ])
    expect(keepsPromise("{ a: 1, b: 'x' }", "{ a: 1, b: '…' }")).toBe(true)
    expect(keepsPromise('2', '3')).toBe(false)
    expect(keepsPromise('sentt', 'sent')).toBe(false)
  })

  it('finds every block of TypeScript of a page', () => {
    const found = readBlocks('README.md')
    expect(found.length).toBeGreaterThanOrEqual(3)
    for (const { lines } of found) expect(lines.join('\n')).toContain('import')
  })
})
