import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { collectLog } from './collect-log.js'
import type { FunctionDefinition } from './function-definition.js'
import { type FunctionSurroundings, makeEnvironment } from './function-environment.js'
import type { RuntimeApi, RuntimeInvocation } from './runtime-api.js'

/** How an invocation ended in its process. */
export type ProcessOutcome =
  | { readonly outcome: 'ok'; readonly body: string }
  /** The handler threw. `body` is the error as JSON. */
  | { readonly outcome: 'error'; readonly body: string }
  /** The handler could not be loaded. `body` is the error as JSON. */
  | { readonly outcome: 'init-error'; readonly body: string }
  /** It ran out of its time and was killed. */
  | { readonly outcome: 'timeout' }
  /** The process ended before it answered. */
  | { readonly outcome: 'crashed'; readonly how: string }

/** What a process tells of an invocation. */
export interface ProcessResult {
  readonly result: ProcessOutcome
  readonly startedAt: number
  readonly durationMs: number
  /** How long the process took to be ready, on its first invocation. */
  readonly initMs: number | undefined
  readonly logs: readonly string[]
  readonly pid: number
}

/** A process that runs the invocations of one function, one at a time. */
export interface FunctionProcess {
  readonly pid: number
  /** Runs one invocation; not to be called before the last one has ended. */
  run(requestId: string, event: string, traceId: string): Promise<ProcessResult>
  /** Ends it at once, as a crash would. */
  kill(): void
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
}

const bootstrap = fileURLToPath(new URL('bootstrap.mjs', import.meta.url))

/** Node's heap gets this part of the memory; the rest is for the process around it, as in Lambda. */
const HEAP_SHARE = 0.9

/** Lambda gives the init phase ten seconds; a loaded machine gets more, since that limit is not what is tested here. */
const INIT_WITHIN_MS = 60_000

/**
 * Starts a process for a function. Its handler is loaded at once, so a first invocation may wait for that.
 * @param onLogLine gets what it logs, line by line, as it is written
 */
export const startFunctionProcess = (
  definition: FunctionDefinition,
  surroundings: FunctionSurroundings,
  runtimeApi: RuntimeApi,
  onLogLine: (line: string) => void,
): FunctionProcess => {
  const id = randomUUID()
  const startedAt = Date.now()
  let initMs: number | undefined
  let ready: ((invocation: RuntimeInvocation) => void) | undefined
  let onReady: (() => void) | undefined
  let settle: ((result: ProcessOutcome) => void) | undefined
  let over: ProcessOutcome | undefined

  const address = runtimeApi.open(id, {
    onNext: (respond) => {
      initMs ??= Date.now() - startedAt
      ready = respond
      onReady?.()
    },
    onResponse: (_, body) => settle?.({ outcome: 'ok', body }),
    onError: (_, body) => settle?.({ outcome: 'error', body }),
    onInitError: (body) => finish({ outcome: 'init-error', body }),
  })
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${Math.floor(definition.memoryMb * HEAP_SHARE)}`, bootstrap],
    {
      cwd: definition.folder,
      env: makeEnvironment(definition, surroundings, address, id),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const log = collectLog([child.stdout, child.stderr], onLogLine)
  const finish = (result: ProcessOutcome) => {
    over ??= result
    settle?.(over)
    onReady?.()
  }
  const kill = () => {
    child.kill('SIGKILL')
  }
  // "close" comes after the streams have ended, so no line is lost.
  const ended = new Promise<void>((resolve) => {
    const onEnd = (how: string) => {
      runtimeApi.close(id)
      finish({ outcome: 'crashed', how })
      resolve()
    }
    child.once('error', (error) => onEnd(error.message))
    child.once('close', (code, signal) => onEnd(signal === null ? `exit status ${code}` : `signal: ${signal}`))
  })

  const untilReady = async (): Promise<RuntimeInvocationTaker | undefined> => {
    if (ready === undefined && over === undefined)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => {
          finish({
            outcome: 'init-error',
            body: JSON.stringify({ errorType: 'Sandbox.Timedout', errorMessage: 'init took too long' }),
          })
          kill()
        }, INIT_WITHIN_MS)
        onReady = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    onReady = undefined
    const taken = over === undefined ? ready : undefined
    ready = undefined
    return taken
  }

  const runReady = async (respond: RuntimeInvocationTaker, invocation: RuntimeInvocation): Promise<ProcessOutcome> => {
    const timer = setTimeout(() => {
      finish({ outcome: 'timeout' })
      kill()
    }, definition.timeoutSeconds * 1000)
    const result = await new Promise<ProcessOutcome>((resolve) => {
      settle = resolve
      respond(invocation)
    })
    settle = undefined
    clearTimeout(timer)
    if (result.outcome === 'ok' || result.outcome === 'error') await log.untilEnd(invocation.requestId)
    else await ended
    return result
  }

  return {
    pid: child.pid ?? 0,
    ended,
    kill,
    run: async (requestId, event, traceId) => {
      const isFirst = initMs === undefined
      const respond = await untilReady()
      const began = Date.now()
      const deadlineAt = began + definition.timeoutSeconds * 1000
      const result =
        respond === undefined
          ? (over ?? { outcome: 'crashed', how: 'it was not ready' })
          : await runReady(respond, { requestId, event, deadlineAt, functionArn: definition.arn, traceId })
      if (respond === undefined) await ended
      return {
        result,
        startedAt: began,
        durationMs: Date.now() - began,
        initMs: isFirst ? initMs : undefined,
        logs: log.take(),
        pid: child.pid ?? 0,
      }
    },
  }
}

type RuntimeInvocationTaker = (invocation: RuntimeInvocation) => void
