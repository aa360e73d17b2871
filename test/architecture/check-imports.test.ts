import { describe, expect, it } from 'vitest'
import { checkImports } from './check-imports.js'
import { parseSource } from './source.js'

const broken = (path: string, text: string) => checkImports(parseSource(path, text)).map(({ message }) => message)

describe('the import law', () => {
  it.each([
    ['lib/core/bus.ts', "import { a } from '../memory/a.js'", 'core may import only nothing of ours'],
    ['lib/wiring/names.ts', "import { a } from '../core/a.js'", 'wiring may import only nothing of ours'],
    ['lib/memory/store.ts', "import { a } from '../dynamodb/a.js'", 'memory may import only core, wiring'],
    ['lib/dynamodb/claim.ts', "import { a } from '../sns/a.js'", 'dynamodb may import only core, wiring'],
    ['lib/sns/publish.ts', "import { a } from '../dynamodb/a.js'", 'sns may import only core, wiring'],
    ['lib/sqs/receive.ts', "import { a } from '../lambda/a.js'", 'sqs may import only core, wiring'],
    ['lib/postgres/claim.ts', "import { a } from '../dynamodb/a.js'", 'postgres may import only core, wiring'],
    ['lib/lambda/inject.ts', "import { a } from '../constructs/a.js'", 'lambda may import only core, wiring'],
    ['lib/constructs/alarm.ts', "import { a } from '../core/a.js'", 'constructs may import only wiring'],
    ['lib/testing/bus.ts', "import { a } from '../dynamodb/a.js'", 'testing may import only core, memory'],
    ['lib/local/cloud.ts', "import { a } from '../core/a.js'", 'local may import only wiring'],
    ['lib/core/bus.ts', "import { a } from '../../test/a.js'", 'core may import only nothing of ours'],
    ['lib/lambda/inject.ts', "import { a } from '../aws.js'", 'lambda may import only'],
    ['lambdas/dispatcher.ts', "import { a } from '../lib/testing/a.js'", 'lambdas may import only'],
    ['bin/app.ts', "import { a } from '../lib/testing/a.js'", 'bin may import only'],
  ])('%s: %s is refused', (path, text, rule) => {
    const [message, ...others] = broken(path, text)
    expect(message).toContain(`the import law: ${rule}`)
    expect(others).toEqual([])
  })

  it('names the file, the line, the import and the law', () => {
    const source = parseSource('lib/core/bus.ts', "\nimport { b } from '../memory/b.js'\n")
    expect(checkImports(source)).toEqual([
      {
        path: 'lib/core/bus.ts',
        line: 2,
        message: 'imports ../memory/b.js; the import law: core may import only nothing of ours',
      },
    ])
  })

  it.each([
    "import type { A } from '../memory/a.js'",
    "import { type A } from '../memory/a.js'",
    "export { a } from '../memory/a.js'",
    "export * from '../memory/a.js'",
    "import '../memory/a.js'",
    "const a = await import('../memory/a.js')",
    "type A = import('../memory/a.js').A",
    "import a = require('../memory/a.js')",
    "const a = require('../memory/a.js')",
    "const a = require.resolve('../memory/a.js')",
  ])('is not got around by the form of the import: %s', (text) => {
    expect(broken('lib/core/bus.ts', text)).toHaveLength(1)
  })

  it.each([
    ['lib/core/bus.ts', "import { a } from './a.js'"],
    ['lib/core/ids.ts', "import { sha256 } from '@noble/hashes/sha2.js'"],
    ['lib/memory/store.ts', "import { a } from '../core/a.js'"],
    ['lib/dynamodb/claim.ts', "import { QueryCommand } from '@aws-sdk/client-dynamodb'"],
    ['lib/testing/bus.ts', "import { a } from '../memory/a.js'"],
    ['lib/constructs/alarm.ts', "import { Stack } from 'aws-cdk-lib'\nimport { a } from '../wiring/a.js'"],
    ['lib/local/emulators/a.ts', "import { spawn } from 'node:child_process'\nimport { b } from './b.js'"],
    ['lambdas/waker.ts', "import { a } from '../lib/lambda/a.js'"],
    ['test/core/bus.test.ts', "import { a } from '../../lib/memory/a.js'\nimport { it } from 'vitest'"],
    ['lib/core/text.ts', "// import { a } from '../memory/a.js'\nexport const a = \"import 'node:fs'\""],
  ])('%s: %s is allowed', (path, text) => {
    expect(broken(path, text)).toEqual([])
  })

  it.each([
    ['lib/core/a.ts', "import { readFileSync } from 'node:fs'", 'core may not import builtins of Node'],
    ['lib/core/a.ts', "import type { Agent } from 'node:http'", 'core may not import builtins of Node'],
    ['lib/core/a.ts', "import { SNSClient } from '@aws-sdk/client-sns'", 'only the packages @noble/hashes'],
    ['lib/memory/a.ts', "import { sha256 } from '@noble/hashes/sha2.js'", 'only the packages (none)'],
    ['lib/testing/a.ts', "import { it } from 'vitest'", 'only the packages (none)'],
    ['lib/constructs/a.ts', "import { SNSClient } from '@aws-sdk/client-sns'", 'only the packages aws-cdk-lib'],
    ['lib/sns/a.ts', "import { a } from 'postdate'", 'only the packages @aws-sdk/'],
  ])('%s: %s is refused', (path, text, rule) => {
    expect(broken(path, text)).toEqual([expect.stringContaining(rule)])
  })

  it.each(['const a = process.env.A', 'const { env } = process', 'const a = globalThis.process', 'f({ process })'])(
    'core reads no environment: %s is refused',
    (text) => {
      expect(broken('lib/core/a.ts', text)).toEqual([expect.stringContaining('core knows no process')])
    },
  )

  it.each(['const a = { process: 1 }', 'const a = b.process', 'interface A { process: string }'])(
    'core may name a property so: %s is allowed',
    (text) => {
      expect(broken('lib/core/a.ts', text)).toEqual([])
    },
  )

  it('a folder without a law is refused', () => {
    expect(broken('lib/extras/a.ts', 'export const a = 1')).toEqual([expect.stringContaining('extras has no law')])
  })
})

describe('an entry of the package', () => {
  it.each([
    ['lib/index.ts', "export { createBus } from './core/bus.js'\nexport type { A } from './memory/a.js'"],
    [
      'lib/aws.ts',
      "export { a } from './dynamodb/a.js'\nexport { b } from './sns/b.js'\nexport { c } from './sqs/c.js'",
    ],
  ])('%s re-exports from the folders that it opens', (path, text) => {
    expect(broken(path, text)).toEqual([])
  })

  it.each([
    ['lib/index.ts', "export { a } from './dynamodb/a.js'", 'index opens only core, memory'],
    ['lib/index.ts', "export { a } from './testing.js'", 'index opens only core, memory'],
    ['lib/index.ts', 'export const a = 1', 'only re-exports names'],
    ['lib/index.ts', "export * from './core/bus.js'", 'only re-exports names'],
    ['lib/index.ts', "import './core/bus.js'", 'only re-exports names'],
    ['lib/extra.ts', "export { a } from './core/a.js'", 'no such entry'],
  ])('%s: %s is refused', (path, text, rule) => {
    expect(broken(path, text)).toEqual([expect.stringContaining(rule)])
  })
})
