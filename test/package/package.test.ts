import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PackedProject, packProject, projectRoot } from './pack-project.js'
import { run } from './run.js'

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, Readonly<Record<string, string>>>>>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as Manifest
const dependencies = Object.keys(manifest.dependencies)
const peers = Object.keys(manifest.peerDependencies)
const entries = readdirSync(join(projectRoot, 'lib'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.replace(/\.ts$/, ''))
const specifierOf = (entry: string) => (entry === 'index' ? 'postdate' : `postdate/${entry}`)
const binOf = (name: string, path: string) => join(projectRoot, 'node_modules', name, path)

let packed: PackedProject

beforeAll(async () => {
  packed = await packProject()
}, 60_000)
afterAll(() => packed?.remove())

describe('the packed package', () => {
  it('has every file that its exports name, and every entry of lib among its exports', () => {
    const paths = packed.files.map(({ path }) => path)
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target).flatMap((condition) => Object.values(condition)),
    )
    expect(targets.map((target) => target.replace(/^\.\//, '')).filter((target) => !paths.includes(target))).toEqual([])
    expect(Object.keys(manifest.exports).sort()).toEqual(
      [...entries.map((entry) => (entry === 'index' ? '.' : `./${entry}`)), './package.json'].sort(),
    )
  })

  it('names the types first in every condition, since TypeScript takes the first that fits', () => {
    for (const target of Object.values(manifest.exports)) {
      if (typeof target === 'string') continue
      expect(Object.keys(target)).toEqual(['import', 'require'])
      for (const condition of Object.values(target)) expect(Object.keys(condition)).toEqual(['types', 'default'])
    }
  })

  it('has license, changelog and readme, and neither sources nor tests', () => {
    const paths = packed.files.map(({ path }) => path)
    const expected = ['LICENSE', 'CHANGELOG.md', 'README.md', 'package.json']
    expect(expected.filter((path) => !paths.includes(path))).toEqual([])
    expect(paths.filter((path) => /\.test\.|(?<!\.d)\.ts$|^(lib|lambdas|test|bin|bench)\//.test(path))).toEqual([])
  })

  it('gives no path of the machine that built it away', () => {
    const giving = packed.files.filter(
      ({ content }) => content.includes(projectRoot) || content.includes('postdate-package-'),
    )
    expect(giving.map(({ path }) => path)).toEqual([])
  })

  it('asks of its users for one small dependency; every peer is optional, and tried here', () => {
    expect(dependencies).toEqual(['@noble/hashes'])
    expect(Object.keys(manifest.peerDependenciesMeta)).toEqual(peers)
    expect(Object.values(manifest.peerDependenciesMeta).every(({ optional }) => optional)).toBe(true)
    const installed = [...Object.keys(manifest.devDependencies), '@dynoxide/linux-x64']
    expect(peers.filter((name) => !installed.includes(name))).toEqual([])
  })

  it('passes publint', async () => {
    const { output, status } = await run(
      'node',
      [binOf('publint', 'src/cli.js'), 'run', packed.tarball, '--strict'],
      projectRoot,
    )
    expect({ output, status }).toEqual({ output: expect.stringContaining('All good!'), status: 0 })
  })

  it('gives the right types to every way of resolving modules', async () => {
    const attw = binOf('@arethetypeswrong/cli', 'dist/index.js')
    const { output, status } = await run('node', [attw, packed.tarball, '--no-color'], projectRoot)
    expect({ output, status }).toEqual({ output: expect.stringContaining('No problems found'), status: 0 })
  })
})

describe('the main entry, with no optional peer installed', () => {
  const program = `
    const command = postdate.defineCommand('orders/place', 1)()({ orderId: '42' })
    const error = new postdate.PostdateError('recall.malformed-handle', { rule: 'it is cut' })
    if (command.$name !== 'orders/place' || !postdate.isPostdateError(error)) throw new Error('it does not work')
  `

  it('is imported by ES modules', async () => {
    const folder = packed.installWith(dependencies)
    writeFileSync(join(folder, 'app.mjs'), `import * as postdate from 'postdate'\n${program}`)
    expect(await run('node', ['app.mjs'], folder)).toEqual({ status: 0, output: '' })
  })

  it('is required by CommonJS, and loads nothing but itself and its dependency', async () => {
    const folder = packed.installWith(dependencies)
    const loaded = `console.log(JSON.stringify(Object.keys(require.cache).map((path) => path.split('node_modules/').at(-1))))`
    writeFileSync(join(folder, 'app.cjs'), `const postdate = require('postdate')\n${program}\n${loaded}`)
    const { status, output } = await run('node', ['app.cjs'], folder)
    expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining('postdate/dist-cjs/index.js') })
    const strangers = (JSON.parse(output) as string[]).filter(
      (path) => !/^(postdate|@noble\/hashes)\/|app\.cjs$/.test(path),
    )
    expect(strangers).toEqual([])
  })

  it.each(['mts', 'cts'])('its types need nothing else either (.%s)', async (ending) => {
    const folder = packed.installWith(dependencies)
    const text = `import { defineCommand, type MessageOf } from 'postdate'
      const PlaceOrder = defineCommand('orders/place', 1)<{ orderId: string }>()
      const order: MessageOf<typeof PlaceOrder> = PlaceOrder({ orderId: '42' })
      export const id: string = order.orderId
      // @ts-expect-error: the payload is checked
      PlaceOrder({ orderId: 42 })`
    writeFileSync(join(folder, `app.${ending}`), text)
    const options = [
      '--noEmit',
      '--strict',
      '--target',
      'es2023',
      '--lib',
      'es2023,dom',
      '--module',
      'nodenext',
      '--types',
      '',
    ]
    const compile = await run('node', [binOf('typescript', 'bin/tsc'), ...options, `app.${ending}`], folder)
    expect(compile).toEqual({ status: 0, output: '' })
  })
})

describe('the command line', () => {
  it('tells what it can with no optional peer installed, and what is missing when one is needed', async () => {
    const folder = packed.installWith(dependencies)
    const program = 'node_modules/postdate/dist/bin/postdate.js'
    const help = await run('node', [program, '--help'], folder)
    expect(help).toEqual({ status: 0, output: expect.stringContaining('smoke') })
    const { status, output } = await run('node', [program, 'smoke', '--stack', 'Shop'], folder)
    expect({ status, output }).toEqual({ status: 1, output: expect.stringMatching(/@aws-sdk\/client-.+Install it/) })
  })
})

describe('every entry, with the optional peers installed', () => {
  const programs = {
    mjs: entries.map((entry) => `await import('${specifierOf(entry)}')`).join('\n'),
    cjs: entries.map((entry) => `require('${specifierOf(entry)}')`).join('\n'),
  }

  it.each(['mjs', 'cjs'] as const)('loads (.%s)', async (ending) => {
    const folder = packed.installWith([...dependencies, ...peers])
    writeFileSync(join(folder, `app.${ending}`), programs[ending])
    expect(await run('node', [`app.${ending}`], folder)).toEqual({ status: 0, output: '' })
  })

  it.each([
    ['mjs', (name: string, specifier: string) => `import { ${name} } from '${specifier}'`],
    ['cjs', (name: string, specifier: string) => `const { ${name} } = require('${specifier}')`],
  ] as const)('synthesizes the constructs with the bundles that it brings along (.%s)', async (ending, load) => {
    const folder = packed.installWith([...dependencies, ...peers])
    const program = `
      ${load('App, Stack', 'aws-cdk-lib')}
      ${load('DelayedDelivery', 'postdate/constructs')}
      process.env.CDK_VALIDATION = 'false'
      const stack = new Stack(new App({ outdir: 'cdk.out' }), 'Shop')
      new DelayedDelivery(stack, 'Delivery', { busName: 'orders' })
      const template = stack.node.root.synth().getStackByName('Shop').template
      console.log(Object.values(template.Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function').length)`
    writeFileSync(join(folder, `app.${ending}`), program)
    expect(await run('node', [`app.${ending}`], folder)).toEqual({ status: 0, output: '2\n' })
  })

  it('compiles in a strict project that checks the types of its libraries', async () => {
    const folder = packed.installWith([...dependencies, ...peers, '@types/node'])
    writeFileSync(
      join(folder, 'app.mts'),
      entries.map((entry) => `export * as ${entry} from '${specifierOf(entry)}'`).join('\n'),
    )
    const options = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--types', 'node']
    const compile = await run('node', [binOf('typescript', 'bin/tsc'), ...options, 'app.mts'], folder)
    expect(compile).toEqual({ status: 0, output: '' })
  })
})
