import { PostdateError } from './errors.js'
import type { Inspection, ListedRow, ReadCost } from './inspection.js'
import { acceptorOf, isSelective, type MessageFilter, windowOf } from './message-filter.js'
import type { RecallOutcome } from './persistence.js'
import { askStore } from './recalling.js'
import type { BusSettings } from './settings.js'

/** How many messages a bulk recall has dealt with. */
export interface BulkRecallCounts {
  /** Withdrawn: by this recall, or before it. */
  readonly recalled: number
  /** Being delivered, or delivered since they were read. */
  readonly tooLate: number
  /** Withdrawn, and an earlier try to publish them may have gone out; absent for none. */
  readonly possiblyDelivered?: number
}

/** What a bulk recall did. */
export interface BulkRecallResult extends BulkRecallCounts {
  /** Where to go on, when it was stopped; absent when it came to the end. */
  readonly cursor?: string
}

/** How a bulk recall is run. */
export interface BulkRecallOptions {
  /** Told what reading the window costs, before anything is read; `false` ends it there. @default goes on */
  readonly confirm?: (cost: ReadCost) => boolean | Promise<boolean>
  /** Told after every page; with the cursor another run goes on from there. @default nobody is */
  readonly onProgress?: (progress: BulkRecallResult) => void
  /** Where an earlier run stopped. @default at the beginning, which counts what earlier runs withdrew as recalled */
  readonly cursor?: string
  /** Stops it after the page under way. @default never */
  readonly signal?: AbortSignal
}

/** Rows of one page, each of which reads some rows of every shard that the next one reads again; and recalls at once. */
const PAGE_ROWS = 500
const MOST_AT_ONCE = 16

const toCounts = (outcomes: readonly RecallOutcome[]): BulkRecallCounts => {
  const countOf = (...names: readonly RecallOutcome[]) => outcomes.filter((outcome) => names.includes(outcome)).length
  const possiblyDelivered = countOf('possibly-delivered')
  return {
    recalled: countOf('recalled', 'already-recalled'),
    tooLate: countOf('too-late', 'not-found'),
    ...(possiblyDelivered > 0 && { possiblyDelivered }),
  }
}

/**
 * Withdraws all messages that a filter accepts. Copies for one receiver are left alone: what they repeat has been delivered.
 * @throws PostdateError `operator.empty-filter`, `options.invalid`, `persistence.*`; what was done until then stays done
 */
export const recallMany = async (
  settings: BusSettings,
  inspection: Inspection,
  filter: MessageFilter,
  options: BulkRecallOptions,
): Promise<BulkRecallResult> => {
  const { persistence, clock } = settings
  const { confirm, onProgress, signal } = options
  if (!isSelective(filter)) throw new PostdateError('operator.empty-filter', { given: Object.keys(filter) })
  if (persistence.recallOutgoingMessage === undefined)
    throw new PostdateError('persistence.recall-not-supported', { persistence: persistence.name })
  const [window, accepts] = [windowOf(filter), acceptorOf(filter)]
  const outcomes: RecallOutcome[] = []
  let { cursor } = options
  const soFar = (): BulkRecallResult => ({ ...toCounts(outcomes), ...(cursor !== undefined && { cursor }) })

  const recallOne = async (row: ListedRow): Promise<RecallOutcome> => {
    if (row.state === 'recalled') return 'already-recalled'
    const recall = async () => (await persistence.recallOutgoingMessage?.(row, clock.now())) ?? 'not-found'
    return askStore(settings, `recall ${row.rowId}`, recall)
  }

  const recallPage = async (rows: readonly ListedRow[]): Promise<void> => {
    const left = rows.values()
    const runLane = async () => {
      for (const row of left) outcomes.push(await recallOne(row))
    }
    await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, rows.length) }, runLane))
  }

  if (confirm !== undefined) {
    const cost = await askStore(settings, 'estimate a list', () => inspection.estimate(window))
    if (!(await confirm(cost))) return soFar()
  }
  for (;;) {
    if (signal?.aborted) return soFar()
    const page = await askStore(settings, 'list messages', () =>
      inspection.list({
        ...window,
        now: clock.now(),
        limit: PAGE_ROWS,
        accepts: (row) => row.target === undefined && accepts(row),
        ...(cursor !== undefined && { cursor }),
      }),
    )
    await recallPage(page.rows)
    cursor = page.cursor
    onProgress?.(soFar())
    if (cursor === undefined) return soFar()
  }
}
