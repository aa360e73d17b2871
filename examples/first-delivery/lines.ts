/** What the processes of the example tell each other: one JSON object a line. Instants are epoch milliseconds. */
export type Line =
  | { readonly event: 'ready'; readonly process: string }
  | {
      readonly event: 'scheduled'
      readonly number: number
      readonly form: string
      readonly messageId: string
      readonly status: string
      /** The instant it was asked for. */
      readonly askedAt: number
      /** How far ahead that was when it was sent. */
      readonly aheadMs: number
    }
  | { readonly event: 'recalled'; readonly number: number; readonly messageId: string; readonly outcome: string }
  | {
      readonly event: 'received'
      readonly number: number
      readonly form: string
      readonly messageId: string
      readonly receivedAt: number
      readonly process: string
    }
  | { readonly event: 'done'; readonly process: string }

/** Tells a line to the process that started this one. */
export const tell = (line: Line): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
