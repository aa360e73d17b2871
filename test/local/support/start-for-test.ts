import { onTestFinished } from 'vitest'
import type { LocalCloud, LocalCloudOptions } from '../../../lib/local/local-cloud.js'
import { startLocalCloud } from '../../../lib/local/start-local-cloud.js'
import { removeAfterTest, type StackInput, writeAssembly } from './write-assembly.js'

/** Starts a cloud for one test, and stops it when the test has ended, unless it has. */
export const startForTest = async (
  stacks: Readonly<Record<string, StackInput>>,
  lines: string[] = [],
  options: LocalCloudOptions = {},
): Promise<LocalCloud> => {
  const cloud = await startLocalCloud({
    assembly: removeAfterTest(writeAssembly(stacks)),
    onLine: (line) => lines.push(line),
    ...options,
  })
  let stopped = false
  const stop = () => {
    stopped = true
    return cloud.stop()
  }
  onTestFinished(async () => {
    if (!stopped) await stop()
  })
  return { ...cloud, stop }
}
