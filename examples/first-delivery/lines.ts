/** What the processes of the example tell each other: one JSON object a line. Instants are epoch milliseconds. */
export type Line =
  | { readonly event: 'ready'; readonly process: string }
  | {
      readonly event: 'scheduled'
      readonly number: number
      readonly form: string
      readonly messageId: string
      readonly status: string
      /** It was for no later instant: it goes out at once, or when its handler has resolved. */
      readonly isAtOnce: boolean
      /** How many messages the call sent that sent this one, where it was more than one. */
      readonly together?: number
      /** The instant that the sender asked for. */
      readonly askedAt: number
      /** The instant that the receipt promises: never before the one asked for. */
      readonly dueAt: number
      /** How far ahead the instant asked for was when it was sent. */
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
