import { parseArgs } from 'node:util'
import { nearestWord } from '../core/nearest-word.js'
import { type Command, CommandError, type OptionValues } from './command.js'

const WRONG_USE = 2

/** The error for a word that is not known, with the one that was probably meant. */
export const unknownWord = (kind: string, word: string, known: readonly string[], help: string): CommandError => {
  const nearest = nearestWord(word, known)
  const guess = nearest === undefined ? '' : `; did you mean ${nearest}?`
  return new CommandError(`there is no ${kind} ${word}${guess}`, help, WRONG_USE)
}

/**
 * Reads the options of a command: `--name value` and `--name=value`, the last one counts.
 * @throws CommandError for a word that is none of it, an option without a value, and one that is missing
 */
export const readOptions = (name: string, command: Command, words: readonly string[]): OptionValues => {
  const help = `postdate ${name} --help tells the options.`
  const required = Object.keys(command.required)
  const known = [...required, ...Object.keys(command.optional)]
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(known.map((option) => [option, { type: 'string' as const }])),
    strict: false,
    tokens: true,
  })
  const values: Record<string, string> = {}
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') throw new CommandError(`${token.value} is no option`, help, WRONG_USE)
    if (!known.includes(token.name))
      throw unknownWord(
        'option',
        token.rawName,
        known.map((option) => `--${option}`),
        help,
      )
    if (token.value === undefined || token.value === '')
      throw new CommandError(`${token.rawName} has no value`, help, WRONG_USE)
    values[token.name] = token.value
  }
  const missing = required.filter((option) => values[option] === undefined).map((option) => `--${option}`)
  if (missing.length === 0) return values
  throw new CommandError(`${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing`, help, WRONG_USE)
}
