import { type ParseArgsConfig, parseArgs } from 'node:util'

/** The flags that a script knows. */
export type Flags = NonNullable<ParseArgsConfig['options']>

const WRONG_USE = 2

/**
 * Reads the flags of a script, in the form of `parseArgs`. For `--help` it shows the help and ends the process with code 0; for a
 * flag that the script does not know it says so, shows the help, and ends it with code 2.
 */
export const readFlags = <F extends Flags>(help: string, flags: F) => {
  try {
    const { values } = parseArgs({ options: { ...flags, help: { type: 'boolean' } } as F })
    if ((values as { readonly help?: boolean }).help !== true) return values
  } catch (error) {
    console.error(`${error instanceof Error ? error.message.split('. ')[0] : error}\n\n${help}`)
    process.exit(WRONG_USE)
  }
  console.log(help)
  process.exit(0)
}
