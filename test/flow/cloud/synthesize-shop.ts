import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import type { TemplateResource } from '../../../lib/local/assembly/template.js'

/** The context flags of `bin/app.ts`. */
export interface ShopVariant {
  readonly mode?: 'minute'
  readonly customerKey?: true
  readonly partner?: true
}

/** A synthesized template, to be read or changed. */
export interface ShopTemplate {
  readonly Resources: Record<string, TemplateResource>
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const TEMPLATE = 'PostdateExample.template.json'

/** What the tests of one file synthesize and change; removed after them. */
const room = mkdtempSync(join(tmpdir(), 'postdate-shop-'))
afterAll(() => rmSync(room, { recursive: true, force: true }))

const run = (script: string, environment: Readonly<Record<string, string>> = {}): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', script], {
      cwd: root,
      env: { ...process.env, ...environment },
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${script} ended with ${code}:\n${said}`)),
    )
  })

let bundling: Promise<void> | undefined

/** Bundles first: what runs is what lies in `lib/` now. */
const synthesize = async (variant: ShopVariant): Promise<string> => {
  bundling = bundling ?? run('bin/bundle.ts')
  await bundling
  const folder = mkdtempSync(join(room, 'cdk.out-'))
  const { context } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')) as { context: object }
  await run('bin/app.ts', {
    CDK_OUTDIR: folder,
    CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...variant }),
    // The test of the example's app has it on; here it would be seconds for each variant.
    CDK_VALIDATION: 'false',
  })
  return folder
}

const made = new Map<string, Promise<string>>()

/** Synthesizes the app of `bin/app.ts`, each variant once for a test file; answers the folder of the cloud assembly. */
export const synthesizeShop = (variant: ShopVariant = {}): Promise<string> => {
  const key = JSON.stringify(variant)
  const folder = made.get(key) ?? synthesize(variant)
  made.set(key, folder)
  return folder
}

/** The template of the example's stack. */
export const readTemplate = (folder: string): ShopTemplate =>
  JSON.parse(readFileSync(join(folder, TEMPLATE), 'utf8')) as ShopTemplate

/** Copies an assembly, with another template; answers the copy's folder. */
export const changeShop = (folder: string, change: (template: ShopTemplate) => void): string => {
  const copy = mkdtempSync(join(room, 'changed-'))
  cpSync(folder, copy, { recursive: true })
  const template = readTemplate(copy)
  change(template)
  writeFileSync(join(copy, TEMPLATE), JSON.stringify(template))
  return copy
}
