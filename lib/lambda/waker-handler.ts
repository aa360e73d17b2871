import { createDispatcher } from '../core/dispatch/dispatcher.js'
import { reasonOf } from '../core/errors.js'
import { answerHint } from '../core/worker.js'
import type { LambdaRecord } from '../sqs/record.js'
import type { SqsBatchResponse, SqsEvent } from './create-receiver.js'
import type { DispatcherContext } from './dispatcher-handler.js'
import type { DispatchParts } from './environment.js'
import { logEvents } from './log-events.js'
import { createMeter } from './meter.js'

/** The Lambda handler behind the queue of wake hints. */
export type WakerHandler = (event: SqsEvent, context: DispatcherContext) => Promise<SqsBatchResponse>

/** Before its time-out a waker stops claiming, for so long at most: a publish takes 5 s, and its settle comes after it. */
const DRAIN_MS = 10_000

/** The shard that a hint names; `undefined` if the record is no hint. */
const readShard = ({ body }: LambdaRecord): number | undefined => {
  try {
    const { shard } = JSON.parse(body) as { readonly shard?: unknown }
    return Number.isSafeInteger(shard) && Number(shard) >= 0 ? Number(shard) : undefined
  } catch {
    // The caller reports what can't be read.
    return undefined
  }
}

const groupByShard = (records: readonly LambdaRecord[]): Map<number | undefined, LambdaRecord[]> => {
  const groups = new Map<number | undefined, LambdaRecord[]>()
  for (const record of records) {
    const shard = readShard(record)
    groups.set(shard, [...(groups.get(shard) ?? []), record])
  }
  return groups
}

/**
 * Makes the waker's Lambda handler: for each shard that hints name, it leaves the work to a dispatcher that is awake, or
 * dispatches what is due in that shard within 2.5 s. Shards are swept at the same time. What fails, or is no hint, is
 * reported and comes again.
 * @example
 * export const handler = createWakerHandler(dispatchPartsFromEnvironment())
 */
export const createWakerHandler = (parts: DispatchParts): WakerHandler => {
  const { persistence, transport, clock, logger } = parts
  const meter = createMeter(parts, 'waker')
  const log = logEvents(logger)
  const observe: typeof log = (event) => {
    meter.count(event)
    log(event)
  }

  const sweep = async (shard: number, signal: AbortSignal): Promise<boolean> => {
    try {
      const { coordination } = persistence
      let hasLooked = false
      const observeSweep: typeof log = (event) => {
        hasLooked ||= event.type === 'pass'
        observe(event)
      }
      // A dispatcher has one run at a time, so each shard gets its own.
      const dispatcher = createDispatcher({ persistence, transport, clock, observe: observeSweep })
      const answer = await answerHint({ coordination, dispatcher, clock, shard, signal })
      return answer === 'left-to-worker' || hasLooked
    } catch (error) {
      meter.countError()
      logger.error('a wake hint could not be answered now; it comes again', { shard, reason: reasonOf(error) })
      return false
    }
  }

  return async ({ Records: records }, context) => {
    const stopping = new AbortController()
    const remainingMs = context.getRemainingTimeInMillis()
    const stopsAt = clock.now() + remainingMs - Math.min(DRAIN_MS, Math.floor(remainingMs / 2))
    const cancel = clock.wakeAt(stopsAt, () => stopping.abort())
    const failed: LambdaRecord[] = []
    await Promise.all(
      [...groupByShard(records)].map(async ([shard, hints]) => {
        if (shard === undefined) logger.error('records of the hint queue are no hints', { records: hints.length })
        if (shard === undefined || !(await sweep(shard, stopping.signal))) failed.push(...hints)
      }),
    )
    cancel()
    meter.flush()
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) }
  }
}
