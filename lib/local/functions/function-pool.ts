import { randomUUID } from 'node:crypto'
import type { FunctionDefinition } from './function-definition.js'
import type { FunctionSurroundings } from './function-environment.js'
import { type FunctionProcess, type ProcessOutcome, startFunctionProcess } from './function-process.js'
import type { Invocation, Trigger } from './invocation.js'
import type { RuntimeApi } from './runtime-api.js'

/** All processes of one function. */
export interface FunctionPool {
  readonly definition: FunctionDefinition
  /** Runs an event (JSON) on an idle process or a new one. Never throws. */
  invoke(event: string, trigger: Trigger): Promise<Invocation>
  /** The live processes. */
  pids(): readonly number[]
  /** Kills the live processes as a crash would; answers which. The next invocation starts another. */
  kill(): readonly number[]
  stop(): Promise<void>
}

/** Who is told of what happens in a pool. */
export interface PoolEvents {
  /** Gets each invocation that has ended. */
  onInvocation(invocation: Invocation): void
  /** Gets each line of the log, as it is written. */
  onLogLine(line: string): void
}

/** Functions without reserved concurrency run at most so many at once here; further invocations wait. */
const LOCAL_CONCURRENCY = 10

const errorOf = (
  result: ProcessOutcome,
  { timeoutSeconds }: FunctionDefinition,
  requestId: string,
): Invocation['error'] => {
  switch (result.outcome) {
    case 'ok':
      return undefined
    case 'timeout':
      return {
        errorType: 'Sandbox.Timedout',
        errorMessage: `RequestId: ${requestId} Error: Task timed out after ${timeoutSeconds.toFixed(2)} seconds`,
      }
    case 'crashed':
      return {
        errorType: 'Runtime.ExitError',
        errorMessage: `RequestId: ${requestId} Error: Runtime exited with error: ${result.how}`,
      }
    default: {
      const { errorType, errorMessage } = JSON.parse(result.body) as { errorType: string; errorMessage: string }
      return { errorType, errorMessage }
    }
  }
}

/** Makes the pool of a function; processes start with the first invocation. */
export const makeFunctionPool = (
  definition: FunctionDefinition,
  surroundings: FunctionSurroundings,
  runtimeApi: RuntimeApi,
  { onInvocation, onLogLine }: PoolEvents,
): FunctionPool => {
  const live = new Set<FunctionProcess>()
  const idle: FunctionProcess[] = []
  const waiting: (() => void)[] = []
  let running = 0
  let stopped = false

  const takeProcess = (): FunctionProcess => {
    const free = idle.pop()
    if (free !== undefined) return free
    const started = startFunctionProcess(definition, surroundings, runtimeApi, onLogLine)
    live.add(started)
    void started.ended.then(() => {
      live.delete(started)
      const place = idle.indexOf(started)
      if (place >= 0) idle.splice(place, 1)
    })
    return started
  }

  const identity = { function: definition.logicalId, path: definition.path }
  const throttled = (requestId: string, trigger: Trigger): Invocation => ({
    ...identity,
    ...{ requestId, trigger, outcome: 'throttled', payload: undefined, logs: [], pid: 0 },
    error: { errorType: 'TooManyRequestsException', errorMessage: 'Rate Exceeded.' },
    ...{ startedAt: Date.now(), durationMs: 0, initMs: undefined },
  })

  const run = async (requestId: string, event: string, trigger: Trigger): Promise<Invocation> => {
    const taken = takeProcess()
    const traceId = `Root=1-${Math.floor(Date.now() / 1000).toString(16)}-${randomUUID().replaceAll('-', '').slice(0, 24)};Sampled=0`
    const { result, ...told } = await taken.run(requestId, event, traceId)
    if (result.outcome === 'ok' || result.outcome === 'error') {
      if (live.has(taken)) idle.push(taken)
    }
    return {
      ...identity,
      ...told,
      ...{ requestId, trigger, outcome: result.outcome },
      payload: result.outcome === 'ok' ? (JSON.parse(result.body) as unknown) : undefined,
      error: errorOf(result, definition, requestId),
    }
  }

  return {
    definition,
    invoke: async (event, trigger) => {
      const requestId = randomUUID()
      const { reservedConcurrency } = definition
      if (stopped || (reservedConcurrency !== undefined && running >= reservedConcurrency)) {
        const refused = throttled(requestId, trigger)
        if (!stopped) onInvocation(refused)
        return refused
      }
      if (running >= (reservedConcurrency ?? LOCAL_CONCURRENCY))
        await new Promise<void>((resolve) => waiting.push(resolve))
      else running++
      const ended = await run(requestId, event, trigger)
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
      onInvocation(ended)
      return ended
    },
    pids: () => [...live].map(({ pid }) => pid),
    kill: () => {
      idle.length = 0
      return [...live].map((process) => {
        process.kill()
        return process.pid
      })
    },
    stop: async () => {
      stopped = true
      for (const process of live) process.kill()
      await Promise.all([...live].map(({ ended }) => ended))
    },
  }
}
