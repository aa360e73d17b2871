import type { Command } from './command.js'

/** A command in the list: loaded when it is called, so that help needs no client of AWS. */
export interface ListedCommand {
  /** What it does, in a few words. */
  readonly summary: string
  load(): Promise<Command>
}

/** Every command, by name, in the order of the help. */
export const commands: Readonly<Record<string, ListedCommand>> = {
  smoke: {
    summary: 'sends a message through a deployed stack, 5 s ahead, and tells how late it came',
    load: async () => (await import('./smoke.js')).smoke,
  },
}
