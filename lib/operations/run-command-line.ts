import { reasonOf } from '../core/errors.js'
import { CommandError, type Terminal } from './command.js'
import { type ListedCommand, commands as ownCommands } from './commands.js'
import { readOptions, unknownWord } from './read-options.js'
import { writeCommandHelp, writeHelp } from './write-help.js'

const consoleTerminal: Terminal = {
  print: (line) => console.log(line),
  complain: (line) => console.error(line),
}

/** What to do about failures that everybody meets once, by what they say. */
const advice: readonly (readonly [RegExp, string])[] = [
  [/Cannot find package '@aws-sdk/, 'Install it: the clients of AWS are optional peers of postdate.'],
  [/Region is missing/, 'Give --region, or set AWS_REGION.'],
  [/Credentials|ExpiredToken|UnrecognizedClient|InvalidClientTokenId/, 'Log in, or name a profile in AWS_PROFILE.'],
  [/AccessDenied|access-denied|AuthorizationError|not authorized/, 'Your credentials lack this permission.'],
]

const explain = (error: unknown): string => {
  const reason = reasonOf(error)
  const [, help] = advice.find(([pattern]) => pattern.test(reason)) ?? []
  return help === undefined ? reason : `${reason.replace(/\.$/, '')}. ${help}`
}

const isHelp = (word: string): boolean => word === '--help' || word === '-h'

const runOne = async (name: string, listed: ListedCommand, words: readonly string[], terminal: Terminal) => {
  const command = await listed.load()
  if (!words.some(isHelp)) return command.run(readOptions(name, command, words), terminal)
  terminal.print(writeCommandHelp(name, command))
  return 0
}

/**
 * Runs a command line, and answers its exit code: 0 for success, 1 for a failure, 2 for a wrong use. Never rejects: what is
 * thrown becomes a line.
 * @param words the arguments, without the program's name
 * @example
 * process.exitCode = await runCommandLine(process.argv.slice(2))
 */
export const runCommandLine = async (
  words: readonly string[],
  terminal: Terminal = consoleTerminal,
  commands: Readonly<Record<string, ListedCommand>> = ownCommands,
): Promise<number> => {
  const [name = '--help', ...rest] = words
  if (isHelp(name)) {
    terminal.print(writeHelp(commands))
    return 0
  }
  const listed = Object.hasOwn(commands, name) ? commands[name] : undefined
  try {
    if (listed !== undefined) return await runOne(name, listed, rest, terminal)
    throw unknownWord('command', name, Object.keys(commands), 'postdate --help tells the commands.')
  } catch (error) {
    const isKnown = error instanceof CommandError
    terminal.complain(isKnown ? `postdate: ${error.message}` : `postdate ${name}: ${explain(error)}`)
    return isKnown ? error.exitCode : 1
  }
}
