import { build } from 'esbuild'
import { expect, it } from 'vitest'

/** Packages that only some users have, and that no entry may ask for when it is bundled. */
const LOADED_ON_DEMAND = ['sqs-consumer', '@aws-lambda-powertools/idempotency']

/** Bundles a program as users do for a Lambda, on a machine without those packages. */
const bundle = async (code: string): Promise<readonly string[]> => {
  const { errors } = await build({
    stdin: { contents: code, resolveDir: new URL('../..', import.meta.url).pathname, loader: 'ts' },
    alias: Object.fromEntries(LOADED_ON_DEMAND.map((name) => [name, './is-not-installed'])),
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  }).catch((failure: { errors: readonly { text: string }[] }) => failure)
  return errors.map(({ text }) => text)
}

it.each([
  ['a sender', "export { dynamoDbPersistence, snsTransport } from './lib/aws.js'"],
  ['a receiver without an inbox', "export { busFromEnvironment, createReceiver } from './lib/lambda.js'"],
  ['a receiver with an inbox', "export { createReceiver, powertoolsInbox } from './lib/lambda.js'"],
])('%s is bundled where the packages that load on demand are missing', async (_, code) => {
  expect(await bundle(code)).toEqual([])
})

it('what loads on demand and is not caught would be noticed', async () => {
  expect(await bundle("export const load = () => import('sqs-consumer')")).toEqual([
    expect.stringContaining('Could not resolve'),
  ])
})
