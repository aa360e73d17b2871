/** An option of a command: `--name VALUE`. */
export interface CommandOption {
  /** What stands for its value in the help, such as `NAME`. */
  readonly placeholder: string
  readonly summary: string
}

/** The values of the options: of each that is required, and of those others that were given. */
export type OptionValues<R extends string = string, O extends string = string> = Readonly<
  Record<R, string> & Partial<Record<O, string>>
>

/** Where a command writes. */
export interface Terminal {
  /** Writes a line of what was asked for. */
  print(line: string): void
  /** Writes a line of what went wrong. */
  complain(line: string): void
}

/** A command of the command line. Each is a file of `lib/operations`, and a line in `commands.ts`. */
export interface Command<R extends string = string, O extends string = string> {
  /** What it does, and what it takes: the help, without the options. */
  readonly about: string
  readonly required: Readonly<Record<R, CommandOption>>
  readonly optional: Readonly<Record<O, CommandOption>>
  /**
   * Does it. Answers the exit code: 0 for success, 1 for a failure that it has told of.
   * @throws CommandError for what the caller can mend
   */
  run(values: OptionValues<R, O>, terminal: Terminal): Promise<number>
}

/** What the caller of a command can mend: printed as it is, without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  /** 2 for a command line that is wrong, 1 for everything else. */
  readonly exitCode: 1 | 2

  /** @param help what to do about it */
  constructor(message: string, help: string, exitCode: 1 | 2 = 1) {
    super(`${message}${message.endsWith('?') ? '' : '.'} ${help}`)
    this.exitCode = exitCode
  }
}
