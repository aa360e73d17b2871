import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Template, TemplateResource } from '../../../lib/local/assembly/template.js'

/** Where the handlers of the fixtures are. */
export const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url))

/** A stack to write. */
export interface StackInput {
  readonly resources: Readonly<Record<string, TemplateResource>>
  readonly outputs?: Template['Outputs']
  readonly parameters?: Template['Parameters']
  readonly environment?: string
}

const handlers = ['probe', 'receiver', 'broken', 'commonjs', 'caller']

/** Writes a cloud assembly as `cdk synth` would; every handler of the fixtures is among its assets, as `<name>.zip`. */
export const writeAssembly = (stacks: Readonly<Record<string, StackInput>>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'assembly-'))
  const write = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value))
  const artifacts: Record<string, unknown> = {}
  for (const [name, { resources, outputs, parameters, environment }] of Object.entries(stacks)) {
    write(`${name}.template.json`, { Resources: resources, Outputs: outputs, Parameters: parameters })
    write(`${name}.assets.json`, {
      files: Object.fromEntries(
        handlers.map((handler) => [
          handler,
          {
            source: { path: relative(folder, join(fixtures, handler)), packaging: 'zip' },
            destinations: { here: { bucketName: 'assets', objectKey: `${handler}.zip` } },
          },
        ]),
      ),
    })
    artifacts[name] = {
      type: 'aws:cloudformation:stack',
      environment: environment ?? 'aws://unknown-account/unknown-region',
      properties: { templateFile: `${name}.template.json` },
      dependencies: [`${name}.assets`],
    }
    artifacts[`${name}.assets`] = { type: 'cdk:asset-manifest', properties: { file: `${name}.assets.json` } }
  }
  write('manifest.json', { version: '55.0.0', artifacts })
  return folder
}

/** Removes an assembly when the test has ended. */
export const removeAfterTest = (folder: string): string => {
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** An empty folder, removed when the test has ended. */
export const emptyFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'empty-'))
  mkdirSync(folder, { recursive: true })
  return removeAfterTest(folder)
}
