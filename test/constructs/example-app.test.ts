import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleFunctions, projectRoot } from './synthesize.js'

interface Synthesis {
  readonly status: number | null
  readonly output: string
  /** The folder of the cloud assembly. */
  readonly folder: string
}

interface Report {
  readonly pluginReports: readonly {
    readonly pluginName: string
    readonly conclusion: string
    readonly violations: readonly unknown[]
    readonly suppressedViolations: readonly { readonly ruleName: string; readonly reason: string }[]
  }[]
}

const room = mkdtempSync(join(tmpdir(), 'postdate-example-'))
const { context: fixed } = JSON.parse(readFileSync(join(projectRoot, 'cdk.json'), 'utf8')) as { context: object }

/** Synthesizes the app as the CDK's command line does, with the validators on, and without its bundling step. */
const synthesizeApp = (context: Readonly<Record<string, unknown>>): Promise<Synthesis> =>
  new Promise((resolve) => {
    const folder = mkdtempSync(join(room, 'cdk.out-'))
    const { CDK_VALIDATION: _, ...environment } = process.env
    const env = { ...environment, CDK_OUTDIR: folder, CDK_CONTEXT_JSON: JSON.stringify({ ...fixed, ...context }) }
    const app = spawn(process.execPath, ['--import', 'tsx', 'bin/app.ts'], { cwd: projectRoot, env })
    let output = ''
    for (const stream of [app.stdout, app.stderr]) stream.on('data', (text) => (output += text))
    app.on('close', (status) => resolve({ status, output, folder }))
  })

const read = ({ folder }: Synthesis, file: string): string => readFileSync(join(folder, file), 'utf8')

const templatesOf = ({ folder }: Synthesis) => readdirSync(folder).filter((file) => file.endsWith('.template.json'))

const variants = {
  'as it is': {},
  'with a customer key and a second stack': { customerKey: true, partner: 'true' },
}
/** A synth takes seven seconds on a machine that has nothing else to do. */
const SLOW_MS = 120_000

const done = new Map<string, Synthesis>()

beforeAll(async () => {
  bundleFunctions()
  for (const [name, context] of Object.entries(variants)) done.set(name, await synthesizeApp(context))
}, SLOW_MS)
afterAll(() => rmSync(room, { recursive: true, force: true }))

const synthesisOf = (name: string): Synthesis => {
  const synthesis = done.get(name)
  if (synthesis === undefined) throw new Error(`${name} was not synthesized`)
  return synthesis
}

describe.each(Object.keys(variants))('the example, %s', (name) => {
  it('synthesizes without a word', () => {
    const { status, output } = synthesisOf(name)
    expect({ status, output }).toEqual({ status: 0, output: '' })
  })

  it('has no finding of cdk-nag and of the template validator, and a reason for each that was acknowledged', () => {
    const { pluginReports } = JSON.parse(read(synthesisOf(name), 'validation-report.json')) as Report
    expect(pluginReports.map(({ pluginName }) => pluginName)).toContain('AwsSolutions')
    expect(pluginReports.flatMap(({ violations }) => violations)).toEqual([])
    expect(pluginReports.every(({ conclusion }) => conclusion === 'success')).toBe(true)
    const acknowledged = pluginReports.flatMap(({ suppressedViolations }) => suppressedViolations)
    expect(acknowledged.map(({ ruleName }) => ruleName)).toEqual(Array(4).fill('AwsSolutions-SQS3'))
    for (const { reason } of acknowledged) expect(reason.length).toBeGreaterThan(20)
  })

  it('has templates and manifests in which no path of this machine stands', () => {
    const synthesis = synthesisOf(name)
    const files = readdirSync(synthesis.folder).filter((file) =>
      /\.(template|assets)\.json$|^manifest\.json$/.test(file),
    )
    expect(files.length).toBeGreaterThanOrEqual(3)
    for (const file of files) expect(read(synthesis, file)).not.toContain(projectRoot)
  })

  it(
    'is clean under cfn-lint, where that is installed',
    () => {
      const synthesis = synthesisOf(name)
      const found = templatesOf(synthesis).map((file) => {
        const { error, stdout } = spawnSync('cfn-lint', [join(synthesis.folder, file)], {
          cwd: projectRoot,
          encoding: 'utf8',
        })
        return error === undefined ? stdout : ''
      })
      expect(found.join('')).toBe('')
    },
    SLOW_MS,
  )
})

it(
  'the same app makes the same assembly, asset hashes included',
  async () => {
    const first = synthesisOf('as it is')
    const again = await synthesizeApp({})
    for (const file of ['PostdateExample.template.json', 'PostdateExample.assets.json', 'manifest.json', 'tree.json'])
      expect(read(again, file)).toBe(read(first, file))
  },
  SLOW_MS,
)

it(
  'a mode that there is not is refused',
  async () => {
    const { status, output } = await synthesizeApp({ mode: 'hour' })
    expect(status).not.toBe(0)
    expect(output).toContain('the context mode is hour; it is second or minute')
  },
  SLOW_MS,
)
