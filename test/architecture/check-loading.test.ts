import { expect, it } from 'vitest'
import { checkLoading } from './check-loading.js'
import { parseSource } from './source.js'

const broken = (files: Record<string, string>) =>
  checkLoading(Object.entries(files).map(([path, text]) => parseSource(path, text))).map(({ message }) => message)

const entry = "export { a } from './core/a.js'"

it.each(['@aws-sdk/client-sns', 'aws-cdk-lib', 'pg', 'fauxqs', 'dynalite'])(
  'the main entry does not load %s, through any number of files',
  (name) => {
    expect(
      broken({
        'lib/index.ts': entry,
        'lib/core/a.ts': "import { b } from '../memory/b.js'",
        'lib/memory/b.ts': `import { c } from '${name}/c'`,
      }),
    ).toEqual([`loads ${name} with the entry index, which may not (lib/index.ts > lib/core/a.ts > lib/memory/b.ts)`])
  },
)

it('a re-export loads, and so does an import of inline types', () => {
  expect(broken({ 'lib/index.ts': entry, 'lib/core/a.ts': "export { c } from 'pg'" })).toHaveLength(1)
  expect(broken({ 'lib/index.ts': entry, 'lib/core/a.ts': "import { type C } from 'pg'" })).toHaveLength(1)
})

it('an import of types, or on demand, does not load', () => {
  const text = "import type { C } from 'pg'\nexport const open = () => import('pg')"
  expect(broken({ 'lib/index.ts': entry, 'lib/core/a.ts': text })).toEqual([])
})

it('the AWS entry does not load sqs-consumer, which only a started bus needs', () => {
  const sqs = "import { Consumer } from 'sqs-consumer'"
  expect(broken({ 'lib/aws.ts': "export { a } from './sqs/a.js'", 'lib/sqs/a.ts': sqs })).toHaveLength(1)
})
