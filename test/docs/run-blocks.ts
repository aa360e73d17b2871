import { spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { environmentVariables } from '../../lib/wiring/environment.js'
import { compileFiles, projectRoot } from '../support/compile-files.js'
import { type Block, toModule } from './read-blocks.js'

/** What the package's entries are made of. */
const entries: Readonly<Record<string, string>> = {
  postdate: 'lib/index.ts',
  'postdate/aws': 'lib/aws.ts',
  'postdate/lambda': 'lib/lambda.ts',
  'postdate/testing': 'lib/testing.ts',
  'postdate/local': 'lib/local.ts',
  'postdate/constructs': 'lib/constructs.ts',
}

/** What every block takes for the present instant. */
export const DOCS_NOW = '2026-01-01T00:00:00.000Z'

/**
 * Stands in for the package: all of it, but buses run on a virtual clock that begins at `DOCS_NOW`. When the blocks are done,
 * half an hour passes, in which what is due is delivered, and the buses are stopped.
 */
const standIn = `
import { formatWithOptions } from 'node:util'
import { createBus as makeBus, memoryTransport as makeTransport } from '${join(projectRoot, 'lib/index.ts')}'
import { createVirtualClock } from '${join(projectRoot, 'lib/testing.ts')}'
export * from '${join(projectRoot, 'lib/index.ts')}'
const clock = createVirtualClock(Date.parse('${DOCS_NOW}'))
Date.now = clock.now
const buses = []
export const createBus = (options) => {
  const bus = makeBus({ clock, ...options })
  buses.push(bus)
  return bus
}
export const memoryTransport = (options) => makeTransport({ clock, ...options })
export const printAt = (line) => (...values) =>
  process.stdout.write(JSON.stringify({ line, text: formatWithOptions({ breakLength: Infinity, compact: true }, ...values) }) + '\\n')
export const finish = async () => {
  await clock.advanceBy(1_800_000)
  await Promise.all(buses.map((bus) => bus.stop()))
  process.exit(0)
}
`

const resolveEntries: Plugin = {
  name: 'entries',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^postdate(\/.*)?$/ }, ({ path }) =>
      path === 'postdate' ? { path, namespace: 'stand-in' } : { path: join(projectRoot, entries[path] ?? path) },
    )
    onLoad({ filter: /.*/, namespace: 'stand-in' }, () => ({
      contents: standIn,
      resolveDir: projectRoot,
      loader: 'js',
    }))
  },
}

let folders = 0

/** Does work in a folder where packages are found and no other tool looks. */
const inFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = join(projectRoot, 'node_modules', `.postdate-docs-${process.pid}-${++folders}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Compiles modules, each made of blocks; answers one line per error, which begins with the page and the line in it. */
export const compileBlocks = (modules: readonly (readonly Block[])[]): Promise<readonly string[]> =>
  inFolder(async (folder) => {
    const files = modules.map((blocks, index) => {
      const file = join(folder, `${index}.ts`)
      writeFileSync(file, toModule(blocks))
      return file
    })
    const paths = Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, [join(projectRoot, path)]]))
    const errors = await compileFiles(files, { paths, noUnusedLocals: false })
    return errors.map((error) =>
      error.replace(/^.*?(\d+)\.ts\((\d+),\d+\)/, (_all, index: string, line: string) => {
        return `${modules[Number(index)]?.[0]?.page}:${line}`
      }),
    )
  })

/** What a line of a page printed. */
export interface PrintedLine {
  readonly line: number
  readonly text: string
}

/** How a run of blocks ended. */
export interface RunOutcome {
  readonly printed: readonly PrintedLine[]
  /** 0 when they ran to their end; `null` when they were stopped. */
  readonly exitCode: number | null
  /** What was written besides: warnings, and why it failed. */
  readonly errors: string
}

const GIVE_UP_AFTER_MS = 20_000

/** What a block finds: the environment of a function that `delivery.connect(fn)` connected. */
const blockEnvironment = {
  AWS_REGION: 'us-east-1',
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  [environmentVariables.busName]: 'orders',
  [environmentVariables.tableName]: 'orders-delayed',
  [environmentVariables.topicArn]: 'arn:aws:sns:us-east-1:123456789012:orders',
}

const runFile = (file: string): Promise<RunOutcome> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, ['--enable-source-maps', file], {
      env: { ...process.env, ...blockEnvironment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: GIVE_UP_AFTER_MS,
    })
    let output = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text
    })
    child.once('close', (exitCode) => {
      const lines = output.split('\n').filter((line) => line !== '')
      resolve({ printed: lines.map((line) => JSON.parse(line) as PrintedLine), exitCode, errors })
    })
  })

/** Runs blocks as one module, in a process of their own. */
export const runBlocks = (blocks: readonly Block[]): Promise<RunOutcome> =>
  inFolder(async (folder) => {
    const code = toModule(blocks)
      .split('\n')
      .map((text, index) => text.replaceAll('console.log(', `printAt(${index + 1})(`))
      .join('\n')
    const outfile = join(folder, 'page.js')
    await build({
      stdin: {
        contents: `${code}\nimport { finish, printAt } from 'postdate'\nawait finish()\n`,
        sourcefile: blocks[0]?.page ?? 'page',
        resolveDir: projectRoot,
        loader: 'ts',
      },
      plugins: [resolveEntries],
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      sourcemap: 'inline',
      logLevel: 'silent',
      outfile,
    })
    return runFile(outfile)
  })
