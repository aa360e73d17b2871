/** What an inbox knows of a key. */
export type InboxAnswer =
  /** The work ran, now or before, with this result. */
  | { readonly state: 'ran' | 'remembered'; readonly result: string }
  /** The work runs elsewhere, or did when its process died; ask again later. */
  | { readonly state: 'in-progress' }

/** Remembers which work was done, so that it is done once. */
export interface Inbox {
  readonly name: string
  /** How long a result is remembered, in milliseconds. */
  readonly retentionMs: number
  /**
   * Runs the work unless it was done, or is being done, under this key; its result is durable when this resolves. Work that
   * throws leaves nothing behind, and may run again.
   * @param work answers text
   * @param runningForMs how long the work may take; a process that died in it blocks the key for so long. `undefined`: not known
   * @throws whatever the work throws, or the store behind the inbox
   */
  once(key: string, work: () => Promise<string>, runningForMs: number | undefined): Promise<InboxAnswer>
}
