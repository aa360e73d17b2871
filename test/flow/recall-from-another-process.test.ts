import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RecallResult } from '../../lib/core/context.js'
import type { PauseState } from '../../lib/core/persistence.js'
import type { Receipt } from '../../lib/core/receipt.js'
import { type FlowStack, startFlow } from './flow-stack.js'
import { type BusProcess, startBusProcess } from './processes/setup.js'

const script = fileURLToPath(new URL('processes/one-errand.ts', import.meta.url))
const execute = promisify(execFile)

/** Within this a pause holds everywhere. */
const PAUSED_WITHIN_MS = 5_500

describe('a message that one process sent and that ended', () => {
  let flow: FlowStack
  let dispatching: BusProcess | undefined

  beforeEach(async () => {
    flow = await startFlow()
  })

  afterEach(async () => {
    await dispatching?.kill()
    dispatching = undefined
    await flow.stop()
  })

  /** Runs an errand in a process of its own. */
  const run = async <T>(...errand: readonly string[]): Promise<T> => {
    const env = { ...process.env, POSTDATE_TEST_SETUP: JSON.stringify(flow.setup) }
    const { stdout } = await execute(process.execPath, ['--import', 'tsx', script, ...errand], { env })
    return JSON.parse(stdout) as T
  }

  it('is taken back by another, with nothing but the handle, and never delivered', async () => {
    const { recallHandle = '', messageId } = await run<Receipt>('send', '2500')
    expect(await run<RecallResult>('recall', recallHandle)).toMatchObject({ outcome: 'recalled', messageId })
    expect((await run<RecallResult>('recall', recallHandle)).outcome).toBe('already-recalled')
    dispatching = await startBusProcess(flow.setup)
    expect(await flow.received(1, 4_000)).toEqual([])
  }, 60_000)

  it('is too late to be taken back once it was delivered', async () => {
    dispatching = await startBusProcess(flow.setup)
    const { recallHandle = '', messageId } = await run<Receipt>('send', '1')
    expect(await flow.received(1)).toEqual([messageId])
    expect((await run<RecallResult>('recall', recallHandle)).outcome).toBe('too-late')
  }, 60_000)

  it('is taken back though it is overdue, while dispatching is paused', async () => {
    dispatching = await startBusProcess(flow.setup)
    expect(await run<PauseState>('pause')).toEqual({ paused: true, version: 1 })
    await new Promise((resolve) => setTimeout(resolve, PAUSED_WITHIN_MS))
    const [one, two] = await Promise.all([run<Receipt>('send', '1'), run<Receipt>('send', '1')])
    expect(await flow.received(1, 1_500)).toEqual([])
    expect((await run<RecallResult>('recall', one.recallHandle ?? '')).outcome).toBe('recalled')
    await run<PauseState>('resume')
    expect(await flow.received(1, 15_000)).toEqual([two.messageId])
    expect(await flow.received(1, 1_500)).toEqual([])
  }, 60_000)
})
