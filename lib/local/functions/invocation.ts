/** What led to an invocation. */
export type Trigger = 'invoke' | 'event' | 'queue' | 'schedule'

/** What became of an invocation. */
export type InvocationOutcome =
  | 'ok'
  /** The handler threw. */
  | 'error'
  /** The handler could not be loaded. */
  | 'init-error'
  /** It ran out of its time and was killed. */
  | 'timeout'
  /** Its process ended before it answered. */
  | 'crashed'
  /** It did not run: the function's reserved concurrency was used up. */
  | 'throttled'

/** An invocation that has ended. */
export interface Invocation {
  readonly requestId: string
  /** The function's logical id, which another stack may have, too. */
  readonly function: string
  /** Its construct path, stack and all. */
  readonly path: string
  readonly trigger: Trigger
  readonly outcome: InvocationOutcome
  /** What the handler returned; `undefined` where it did not. */
  readonly payload: unknown
  /** What went wrong, as Lambda tells it. */
  readonly error: { readonly errorType: string; readonly errorMessage: string } | undefined
  readonly logs: readonly string[]
  /** When the handler was called; epoch milliseconds. */
  readonly startedAt: number
  readonly durationMs: number
  /** How long the process took to be ready, when this was its first invocation. */
  readonly initMs: number | undefined
  /** The process that ran it; 0 when none did. */
  readonly pid: number
}

/** An invocation as one line, such as `Shop/Orders ok 12 ms (init 210 ms)`. */
export const describeInvocation = ({ path, trigger, outcome, durationMs, initMs, error }: Invocation): string => {
  const name = path.replace(/\/Resource$/, '')
  const init = initMs === undefined ? '' : ` (init ${initMs} ms)`
  const reason = error === undefined ? '' : `: ${error.errorType}: ${error.errorMessage}`
  return `${name} ${outcome} ${durationMs} ms${init} [${trigger}]${reason}`
}
