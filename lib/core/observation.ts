/** Where Postdate writes what it has to say. Powertools' logger fits; payloads are never passed. */
export interface Logger {
  debug(message: string, data?: object): void
  info(message: string, data?: object): void
  warn(message: string, data?: object): void
  error(message: string, data?: object): void
}

/** A logger that says nothing. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** The console as a logger: warnings and errors only. */
export const consoleLogger: Logger = {
  debug() {},
  info() {},
  warn: (message, data) => console.warn(`postdate: ${message}`, data ?? ''),
  error: (message, data) => console.error(`postdate: ${message}`, data ?? ''),
}

/**
 * What happened, for metrics and tests. Instants are epoch milliseconds. `docs/reference/events.md` lists them.
 */
export type BusEvent =
  /** A message was published at once, or its row stored. */
  | { readonly type: 'sent' | 'scheduled'; readonly messageId: string; readonly name: string; readonly dueAt?: number }
  /** A handler's repeat of a send that had been recalled in the meantime; it stays recalled. */
  | { readonly type: 'send-stayed-recalled'; readonly messageId: string; readonly name: string }
  /** A message with a key was not stored: the one that is scheduled under the key (`messageId`) is kept. */
  | { readonly type: 'kept'; readonly messageId: string; readonly name: string }
  /** A scheduled message gave way to another of its key. */
  | { readonly type: 'replaced'; readonly messageId: string; readonly by: string }
  /** A recall was answered. */
  | { readonly type: 'recalled'; readonly messageId: string; readonly outcome: string }
  /** A message was to be moved to another time; `dueAt` is the new one, if it was. */
  | { readonly type: 'rescheduled'; readonly messageId: string; readonly outcome: string; readonly dueAt?: number }
  /** A due message was published. `latenessMs` is never negative. */
  | { readonly type: 'dispatched'; readonly messageId: string; readonly name: string; readonly latenessMs: number }
  /** Its row was removed. */
  | { readonly type: 'settled'; readonly rowId: string }
  /** It was published, but its row could not be removed under its lease: it may go out again, with the same id, from `againAt` on if that is known. */
  | {
      readonly type: 'settle-lost'
      readonly rowId: string
      readonly why: 'gone' | 'lease-lost' | 'failed'
      readonly againAt?: number
    }
  /** A claim could not be given back: the row is free again when its lease has ended. */
  | {
      readonly type: 'release-lost'
      readonly rowId: string
      readonly why: 'gone' | 'lease-lost' | 'failed'
      readonly reason: string
    }
  /** A claim was given back. */
  | {
      readonly type: 'released'
      readonly rowId: string
      readonly published: 'no' | 'perhaps'
      readonly reason: string
    }
  /** A row was given up on. */
  | { readonly type: 'dead'; readonly rowId: string; readonly reason: string }
  /** The topic takes nothing; due messages wait. */
  | { readonly type: 'topic-down'; readonly reason: string; readonly probe: number; readonly nextProbeAt: number }
  /** The topic takes messages again. */
  | { readonly type: 'topic-up'; readonly downMs: number }
  /** A look at the due rows ended. */
  | { readonly type: 'pass'; readonly claimed: number; readonly more: boolean; readonly nextDueAt: number | undefined }
  /** A look at the due rows failed; the next one tries again. */
  | { readonly type: 'pass-failed'; readonly code: string; readonly reason: string }
  /** A message was handled; or an inbox knew that it was before. */
  | {
      readonly type: 'handled' | 'handled-before'
      readonly messageId: string
      readonly name: string
      readonly receiver: string
    }
  /** A record could not be read, has no handler, or its handler failed. What becomes of it follows. */
  | { readonly type: 'handling-failed'; readonly recordId: string; readonly receiver: string; readonly reason: string }
  /** A copy of a message, for one receiver, is durable. */
  | {
      readonly type: 'redelivery-stored'
      readonly messageId: string
      readonly name: string
      readonly receiver: string
      readonly attempt: number
      readonly dueAt: number
      readonly why: 'failed' | 'requeued' | 'newer-version'
    }
  /** A record was given up on, and is kept among the dead letters. */
  | {
      readonly type: 'dead-lettered'
      readonly recordId: string
      readonly receiver: string
      readonly reason: string
      readonly attempt?: number
    }
  /** A record was left to its queue, which delivers it again. */
  | { readonly type: 'given-back'; readonly recordId: string; readonly receiver: string; readonly reason: string }
  /** A message is of a newer version than its handler knows. */
  | {
      readonly type: 'newer-version'
      readonly messageId: string
      readonly name: string
      readonly receiver: string
      readonly version: number
      readonly known: number
    }
  /** The worker lease changed hands. */
  | {
      readonly type: 'worker-started' | 'worker-relieved' | 'worker-left'
      readonly owner: string
      readonly epoch: number
    }

/** Told of every event, in order. Must not throw; if it does, the error is logged and the work goes on. */
export type Observer = (event: BusEvent) => void

/** An observer that can't harm the work it watches. */
export const guardObserver = (observer: Observer | undefined, logger: Logger): Observer =>
  observer === undefined
    ? () => {}
    : (event) => {
        try {
          observer(event)
        } catch (error) {
          logger.error('an observer threw; the work goes on', { event: event.type, error: String(error) })
        }
      }
