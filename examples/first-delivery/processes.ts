import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Setup } from './connect.js'
import type { Line } from './lines.js'

/** Starts one file of the example as a process of its own; `onLine` gets what it tells. */
export const startProcess = (
  file: string,
  setup: Setup,
  onLine: (line: Line) => void,
  args: readonly string[] = [],
): ChildProcess => {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      POSTDATE_DEMO_SETUP: JSON.stringify(setup),
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
  })
  createInterface({ input: child.stdout }).on('line', (text) => onLine(JSON.parse(text) as Line))
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

/** Resolves with the exit code of a process. */
export const ended = (child: ChildProcess): Promise<number | null> =>
  child.exitCode !== null ? Promise.resolve(child.exitCode) : new Promise((resolve) => child.once('close', resolve))
