import type { Command } from './command.js'
import type { ListedCommand } from './commands.js'

const columns = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}   ${right}`).join('\n')
}

/** The help of the whole command line. */
export const writeHelp = (commands: Readonly<Record<string, ListedCommand>>): string =>
  [
    'postdate: looks after delayed messages on AWS.',
    'Usage: postdate COMMAND [options]',
    columns(Object.entries(commands).map(([name, { summary }]) => [name, summary])),
    'postdate COMMAND --help tells the options of one. Credentials and region are those of the AWS CLI.',
  ].join('\n\n')

/** The help of one command. */
export const writeCommandHelp = (name: string, { about, required, optional }: Command): string => {
  const needed = Object.entries(required).map(([option, { placeholder }]) => `--${option} ${placeholder}`)
  const possible = Object.entries(optional).map(([option, { placeholder }]) => `[--${option} ${placeholder}]`)
  const all = Object.entries({ ...required, ...optional })
  return [
    `Usage: ${['postdate', name, ...needed, ...possible].join(' ')}`,
    about,
    columns(all.map(([option, { placeholder, summary }]) => [`--${option} ${placeholder}`, summary])),
  ].join('\n\n')
}
