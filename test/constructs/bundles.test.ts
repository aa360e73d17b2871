import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { projectRoot } from './synthesize.js'

const names = ['dispatcher', 'waker', 'orders', 'billing']
const pathOf = (name: string) => join(projectRoot, 'assets', name, 'index.mjs')
const bundle = () => execFileSync(process.execPath, ['--import', 'tsx', 'bin/bundle.ts'], { cwd: projectRoot })

beforeAll(() => void bundle())

describe.each(names)('the bundle of %s', (name) => {
  it('is at most 450 kB', () => {
    expect(readFileSync(pathOf(name)).byteLength).toBeLessThanOrEqual(450_000)
  })

  it('gives no path of the machine that made it away, so that its hash is the same in every checkout', () => {
    expect(readFileSync(pathOf(name), 'utf8')).not.toContain(projectRoot)
  })

  it('starts with nothing but its environment, and makes a handler', () => {
    const program = `import(${JSON.stringify(pathOf(name))}).then(({ handler }) => console.log(typeof handler))`
    const { stdout, status, stderr } = spawnSync(process.execPath, ['-e', program], {
      encoding: 'utf8',
      cwd: '/',
      env: {
        AWS_REGION: 'us-east-1',
        AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
        POSTDATE_BUS_NAME: 'orders',
        POSTDATE_TABLE_NAME: 'orders-table',
        POSTDATE_TOPIC_ARN: 'arn:aws:sns:us-east-1:123456789012:orders',
      },
    })
    expect({ stdout, status, stderr }).toEqual({ stdout: 'function\n', status: 0, stderr: '' })
  })
})

it('bundling again changes no byte', () => {
  const before = names.map((name) => readFileSync(pathOf(name)))
  bundle()
  expect(names.map((name, index) => readFileSync(pathOf(name)).equals(before[index] ?? Buffer.of()))).toEqual([
    ...[true, true, true, true],
  ])
})
