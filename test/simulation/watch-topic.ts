import { LEASE_MARGIN_MS } from '../../lib/core/lease.js'
import type { Publication } from '../../lib/core/transport.js'
import {
  type ClaimRecord,
  type History,
  type Life,
  lifeOf,
  type MessageRecord,
  type PublishRecord,
  type RowRecord,
} from './history.js'
import type { SimulatedProcess } from './process.js'

/** A publication on its way: what it will count as when it arrives. */
export interface Flight {
  readonly publication: Publication
  readonly process: SimulatedProcess
  readonly message: MessageRecord
  readonly row: RowRecord | undefined
  readonly life: Life | undefined
  readonly claim: ClaimRecord | undefined
}

/** Publishing as the judge sees it. */
export interface WatchedTopic {
  /** A process is about to publish. */
  depart(process: SimulatedProcess, publication: Publication): Flight
  /** The topic has it. */
  arrive(flight: Flight): PublishRecord
}

/** Watches what is published: by whom, by which right, and when. */
export const watchTopic = (history: History, publishTimeoutMs: number): WatchedTopic => {
  const { now, trace, violate } = history

  const checkRight = (process: SimulatedProcess, number: string, claim: ClaimRecord | undefined): void => {
    const own = process.clock.now()
    if (claim === undefined) {
      violate('claim', `${number} was published by ${process.name}, which has no claim on it`)
      return
    }
    if (claim.ended !== undefined)
      violate('claim', `${number} was published by ${process.name} after its claim was ${claim.ended}`)
    const startBefore = claim.until - LEASE_MARGIN_MS - publishTimeoutMs
    if (own >= startBefore)
      violate('one live lease', `${number} was published at ${own}, too late for a lease until ${claim.until}`)
  }

  return {
    depart: (process, publication) => {
      const { envelope, delivery } = publication
      const message = history.messageOf(envelope)
      const { dueAt, target, attempt } = delivery
      if (dueAt === undefined)
        return { publication, process, message, row: undefined, life: undefined, claim: undefined }
      const own = process.clock.now()
      if (own < dueAt) violate('never early', `${message.number} was published ${dueAt - own} ms before ${dueAt}`)
      const row = message.rows.find(
        (one) => one.address.dueAt === dueAt && one.target === target && one.attempt === attempt,
      )
      const life = lifeOf(row)
      const claim = life?.claims.findLast((one) => one.process === process)
      checkRight(process, message.number, claim)
      return { publication, process, message, row, life, claim }
    },
    arrive: ({ process, message, life, claim }) => {
      const record: PublishRecord = { at: now(), process, claim }
      trace(process.name, () => `PUBLISHED ${message.number}`)
      if (life === undefined) message.immediate.push(record)
      else life.publishes.push(record)
      if (claim?.endedUnpublished)
        violate('truthful', `${message.number} arrived after its claim had ended as surely not published`)
      if (life?.state === 'recalled' && !life.isUnsure)
        violate('truthful', `${message.number} was published, and it had been recalled as surely not delivered`)
      return record
    },
  }
}
