import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { App, Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'

/** The project's root. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url))

// Four seconds a process; the example's own test has it on.
process.env.CDK_VALIDATION = 'false'

/**
 * Bundles the functions that the constructs bring along, if there are no bundles yet: templates do not depend on what is in
 * them. Several may do so at once.
 */
export const bundleFunctions = (): void => {
  if (['dispatcher', 'waker'].every((name) => existsSync(join(projectRoot, 'assets', name, 'index.mjs')))) return
  const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'bin/bundle.ts'], {
    cwd: projectRoot,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`bundling failed:\n${stderr}`)
}

/** A resource of a template. */
export interface TemplateResource {
  readonly Type: string
  readonly Properties: Readonly<Record<string, unknown>>
}

/**
 * Synthesizes one stack or more, and answers their templates in order.
 * @param context of the app, such as feature flags
 */
export const synthesizeAll = (
  build: (app: App) => readonly Stack[],
  context: Readonly<Record<string, unknown>> = {},
): readonly Template[] => {
  const outdir = mkdtempSync(join(tmpdir(), 'postdate-synth-'))
  try {
    const quick = { 'aws:cdk:disable-creation-stack-traces': true, 'aws:cdk:disable-asset-staging': true }
    const app = new App({ outdir, context: { ...context, ...quick } })
    return build(app).map((stack) => Template.fromStack(stack))
  } finally {
    rmSync(outdir, { recursive: true, force: true })
  }
}

/** Synthesizes one stack, called `Shop`. */
export const synthesize = (
  build: (stack: Stack) => void,
  context: Readonly<Record<string, unknown>> = {},
): Template => {
  const [template] = synthesizeAll((app) => {
    const stack = new Stack(app, 'Shop')
    build(stack)
    return [stack]
  }, context)
  if (template === undefined) throw new Error('nothing was synthesized')
  return template
}

/** A function of a user's own, with a role that the CDK makes. */
export const userFunction = (scope: Construct, id: string, props: { timeout?: LambdaFunction['timeout'] } = {}) =>
  new LambdaFunction(scope, id, {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromInline('exports.handler = async () => {}'),
    ...props,
  })

/** The resources of a type whose logical id begins so. @throws Error when there is not exactly one */
export const findResource = (template: Template, type: string, idPrefix: string): TemplateResource['Properties'] => {
  const found = Object.entries(template.findResources(type)).filter(([id]) =>
    new RegExp(`^${idPrefix}[0-9A-F]{8}$`).test(id),
  )
  const [only] = found
  if (only === undefined || found.length > 1)
    throw new Error(`${found.length} of ${type} ${idPrefix}: ${Object.keys(template.findResources(type)).join(', ')}`)
  return only[1].Properties as TemplateResource['Properties']
}

/** The variables of a function's environment. */
export const environmentOf = (template: Template, idPrefix: string): Readonly<Record<string, unknown>> => {
  const { Environment } = findResource(template, 'AWS::Lambda::Function', idPrefix)
  return (Environment as { Variables: Readonly<Record<string, unknown>> }).Variables
}
