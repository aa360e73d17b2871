import { rmSync } from 'node:fs'
import { afterAll, beforeAll } from 'vitest'
import type { LocalCloud, LocalCloudOptions } from '../../../lib/local/local-cloud.js'
import { startLocalCloud } from '../../../lib/local/start-local-cloud.js'
import type { Resources } from './resources.js'
import { writeAssembly } from './write-assembly.js'

/** A cloud that the tests of a file share, with the lines it printed. */
export interface CloudUnderTest {
  readonly cloud: LocalCloud
  readonly lines: string[]
}

/** Starts a cloud with one stack `Demo` before the tests of a file, and stops it after. */
export const shareCloud = (resources: Resources, options: LocalCloudOptions = {}): CloudUnderTest => {
  const lines: string[] = []
  const folder = writeAssembly({ Demo: { resources } })
  let started: LocalCloud | undefined
  beforeAll(async () => {
    started = await startLocalCloud({ assembly: folder, onLine: (line) => lines.push(line), ...options })
  })
  afterAll(async () => {
    await started?.stop()
    rmSync(folder, { recursive: true })
  })
  return {
    lines,
    get cloud() {
      if (started === undefined) throw new Error('the cloud is not started yet')
      return started
    },
  }
}

/** Waits until a check gives something. @throws when it gives nothing within 25 seconds */
export const until = async <T>(check: () => Promise<T | undefined> | T | undefined): Promise<T> => {
  const giveUpAt = Date.now() + 25_000
  for (;;) {
    const found = await check()
    if (found !== undefined) return found
    if (Date.now() > giveUpAt) throw new Error(`nothing came within 25 seconds: ${check.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
