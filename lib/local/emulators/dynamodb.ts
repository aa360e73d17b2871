import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Emulator, freePort } from './emulator.js'

/** A DynamoDB emulator, and the batching that it supports: dynalite knows no PartiQL. */
export interface DynamoDbEmulator extends Emulator {
  readonly kind: 'dynoxide' | 'dynalite'
  readonly batching: 'partiql' | 'single'
}

const require = createRequire(import.meta.url)

/** The path of the dynoxide binary; `undefined` where the platform has none. */
const dynoxideBinary = (): string | undefined => {
  try {
    const path = join(
      dirname(require.resolve(`@dynoxide/${process.platform}-${process.arch}/package.json`)),
      'dynoxide',
    )
    return existsSync(path) ? path : undefined
  } catch {
    return undefined
  }
}

const READY_WITHIN_MS = 10_000

const untilAnswering = async (endpoint: string, child: ChildProcess): Promise<void> => {
  const giveUpAt = Date.now() + READY_WITHIN_MS
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the DynamoDB emulator ended at once with code ${child.exitCode}`)
    const answered = await fetch(endpoint).then(
      () => true,
      () => false,
    )
    if (answered) return
    if (Date.now() > giveUpAt)
      throw new Error(`the DynamoDB emulator did not answer at ${endpoint} within ${READY_WITHIN_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const startDynoxide = async (binary: string): Promise<DynamoDbEmulator> => {
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}`
  const child = spawn(binary, ['serve', '--host', '127.0.0.1', '--port', String(port)], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  await untilAnswering(endpoint, child)
  return {
    kind: 'dynoxide',
    batching: 'partiql',
    endpoint,
    stop: async () => {
      process.off('exit', kill)
      kill()
      await ended
    },
  }
}

const startDynalite = async (): Promise<DynamoDbEmulator> => {
  const dynalite = require('dynalite') as (options: object) => { listeners(event: string): unknown[]; close(): void }
  const inner = dynalite({ createTableMs: 0 })
  const [listener] = inner.listeners('request') as RequestListener[]
  if (listener === undefined) throw new Error('this version of dynalite has no request listener')
  // A client that disconnects in mid-body makes dynalite throw in the host process: its errors end at the request here.
  const server = createServer((request, response) => {
    request.on('error', () => {})
    response.on('error', () => {})
    listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    kind: 'dynalite',
    batching: 'single',
    endpoint: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/**
 * Starts a DynamoDB emulator on a free port of loopback: dynoxide where the platform has it, else dynalite.
 * @param kind to insist on one.
 */
export const startDynamoDb = (kind?: 'dynoxide' | 'dynalite'): Promise<DynamoDbEmulator> => {
  const binary = kind === 'dynalite' ? undefined : dynoxideBinary()
  if (binary !== undefined) return startDynoxide(binary)
  if (kind === 'dynoxide') throw new Error(`dynoxide has no binary for ${process.platform} ${process.arch}`)
  return startDynalite()
}
