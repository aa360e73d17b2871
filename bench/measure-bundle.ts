import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** What a cold start of the dispatcher costs, beside what it may. */
export interface BundleCost {
  /** Of 1,000 bytes. */
  readonly sizeKb: number
  readonly mostKb: number
  /** How long a fresh process takes to import it: the median of several. */
  readonly importMs: number
  readonly mostImportMs: number
  /** The fastest and the slowest of them. */
  readonly importFromToMs: readonly [least: number, most: number]
}

const MOST_KB = 450
const MOST_IMPORT_MS = 130
const PROCESSES = 15

const root = fileURLToPath(new URL('..', import.meta.url))
const bundle = new URL('../assets/dispatcher/index.mjs', import.meta.url)
const run = promisify(execFile)

/** What Lambda and the constructs give the function; nothing of it is called. */
const environment = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  POSTDATE_BUS_NAME: 'orders',
  POSTDATE_TABLE_NAME: 'orders',
  POSTDATE_TOPIC_ARN: 'arn:aws:sns:us-east-1:123456789012:orders',
}

const program = `
const before = performance.now()
const { handler } = await import(${JSON.stringify(bundle.href)})
const after = performance.now()
if (typeof handler !== 'function') throw new Error('the bundle makes no handler')
console.log(after - before)`

const importOnce = async (): Promise<number> => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: '/', env: environment })
  return Number(stdout)
}

/** Bundles the functions, and measures the dispatcher's. What else runs on the machine is measured with it. */
export const measureBundle = async (): Promise<BundleCost> => {
  await run(process.execPath, ['--import', 'tsx', 'bin/bundle.ts'], { cwd: root })
  // Reads it into the cache of the file system.
  await importOnce()
  const times: number[] = []
  for (let count = 0; count < PROCESSES; count++) times.push(await importOnce())
  const sorted = times.sort((a, b) => a - b).map((ms) => Math.round(ms))
  return {
    sizeKb: Math.ceil(statSync(bundle).size / 1_000),
    mostKb: MOST_KB,
    importMs: sorted[Math.floor(PROCESSES / 2)] ?? Number.NaN,
    mostImportMs: MOST_IMPORT_MS,
    importFromToMs: [sorted[0] ?? Number.NaN, sorted[PROCESSES - 1] ?? Number.NaN],
  }
}
