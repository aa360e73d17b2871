import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** What a dispatching process is told. */
export interface ProcessSetup {
  readonly dynamoDbEndpoint: string
  readonly batching: 'partiql' | 'single'
  readonly messagingEndpoint: string
  readonly tableName: string
  readonly topicArn: string
  readonly sendOnly: boolean
}

/** A started bus in a process of its own. */
export interface BusProcess {
  /** The ids that it says it has dispatched. */
  readonly dispatched: readonly string[]
  /** Resolves when it has dispatched so many. */
  untilDispatched(count: number): Promise<void>
  /** Asks it to stop, and resolves with its exit code. */
  stop(): Promise<number | null>
  /** SIGKILL: no handler runs, nothing is given back. */
  kill(): Promise<void>
}

/** Starts a bus in a process of its own; resolves when it is up. */
export const startBusProcess = async (setup: ProcessSetup): Promise<BusProcess> => {
  const path = fileURLToPath(new URL('dispatching-bus.ts', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', path], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, POSTDATE_TEST_SETUP: JSON.stringify(setup) },
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  const dispatched: string[] = []
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []
  await new Promise<void>((resolve, reject) => {
    void exited.then((code) => reject(new Error(`the bus process ended with code ${code} before it was ready`)))
    if (child.stdout === null) throw new Error('the bus process has no output')
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'ready') resolve()
      const [, messageId] = /^dispatched (.+)$/.exec(line) ?? []
      if (messageId === undefined) return
      dispatched.push(messageId)
      for (const { count, resolve: reached } of waiting) if (dispatched.length >= count) reached()
    })
  })
  return {
    dispatched,
    untilDispatched: (count) =>
      new Promise((resolve) => {
        if (dispatched.length >= count) resolve()
        else waiting.push({ count, resolve })
      }),
    stop: () => {
      child.kill('SIGTERM')
      return exited
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}
