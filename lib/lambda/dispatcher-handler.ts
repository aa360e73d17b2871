import { sleepUntil } from '../core/clock.js'
import { createDispatcher } from '../core/dispatch/dispatcher.js'
import { reasonOf } from '../core/errors.js'
import { type TurnOutcome, takeTurn } from '../core/worker.js'
import type { DispatchParts } from './environment.js'
import type { InvocationContext } from './invocation.js'
import { logEvents } from './log-events.js'
import { createMeter, type Meter } from './meter.js'

/** What is read of an invocation's context. */
export type DispatcherContext = Pick<InvocationContext, 'awsRequestId' | 'getRemainingTimeInMillis'>

/** The Lambda handler that a schedule calls every minute. */
export type DispatcherHandler = (event: unknown, context: DispatcherContext) => Promise<{ outcome: TurnOutcome }>

/**
 * Before its time-out a dispatcher stops claiming, for so long at most: a claim lasts 30 s, and a publish or a settle under
 * way may need the rest of it.
 */
const DRAIN_MS = 30_000

const MEASURE_EVERY_MS = 60_000

/** When to stop by oneself, epoch milliseconds: 270 s into a time-out of 300 s. */
const stopInstant = (context: DispatcherContext, now: number): number => {
  const remainingMs = context.getRemainingTimeInMillis()
  return now + remainingMs - Math.min(DRAIN_MS, Math.floor(remainingMs / 2))
}

const report = async ({ persistence, clock, logger }: DispatchParts, meter: Meter): Promise<void> => {
  try {
    const now = clock.now()
    meter.noteBacklog(await persistence.measureBacklog(now), now)
  } catch (error) {
    meter.countError()
    logger.error('the backlog could not be measured', { reason: reasonOf(error) })
  }
  meter.flush()
}

/** Reports every minute until it is stopped; `stop` resolves when the last report has ended. */
const reportEveryMinute = (parts: DispatchParts, meter: Meter) => {
  const stopping = new AbortController()
  const loop = async () => {
    for (;;) {
      await sleepUntil(parts.clock, parts.clock.now() + MEASURE_EVERY_MS, stopping.signal)
      if (stopping.signal.aborted) return
      await report(parts, meter)
    }
  }
  const ended = loop()
  return async (): Promise<void> => {
    stopping.abort()
    await ended
  }
}

/**
 * Makes the dispatcher's Lambda handler. Each call is one turn: it leaves at once when another is at work, without a write;
 * else it dispatches until nothing is near, another relieves it, or its time is over; then it drains. When it returns, no
 * timer is pending: one that is frozen would fire on the next call.
 *
 * It writes metrics to its log every minute and at its end.
 * @throws whatever the store throws when the worker lease can't be read or taken: the invocation fails, and the next tick tries again
 * @example
 * export const handler = createDispatcherHandler(dispatchPartsFromEnvironment())
 */
export const createDispatcherHandler = (parts: DispatchParts): DispatcherHandler => {
  const { persistence, transport, clock, logger, mode } = parts
  const meter = createMeter(parts, 'dispatcher')
  const log = logEvents(logger)
  const observe: typeof log = (event) => {
    meter.count(event)
    log(event)
  }
  const dispatcher = createDispatcher({ persistence, transport, clock, observe })
  return async (_event, context) => {
    const { coordination } = persistence
    const stopsAt = stopInstant(context, clock.now())
    const stopReporting = reportEveryMinute(parts, meter)
    try {
      const owner = context.awsRequestId
      const outcome = await takeTurn({ coordination, dispatcher, clock, logger, observe, owner, stopsAt, mode })
      await stopReporting()
      if (outcome !== 'declined') await report(parts, meter)
      return { outcome }
    } catch (error) {
      await stopReporting()
      meter.countError()
      meter.flush()
      throw error
    }
  }
}
