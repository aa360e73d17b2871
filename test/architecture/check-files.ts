import type { Source, Violation } from './source.js'

/** The longest file, in lines. */
export const LONGEST_FILE = 300

const vagueWords = /^(util|helper|manager|base|common)s?$/

/** Checks that a file is not above 300 lines: what is longer does more than one thing. */
export const checkLength = ({ path, text }: Source): readonly Violation[] => {
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  return lines > LONGEST_FILE
    ? [{ path, line: lines, message: `has ${lines} lines, above ${LONGEST_FILE}: part it` }]
    : []
}

/** Checks the words of a path: names that say nothing (util, helper, manager, base, common) are refused. */
export const checkPath = (path: string): readonly Violation[] =>
  path
    .split(/[/.-]/)
    .filter((word) => vagueWords.test(word))
    .map((word) => ({ path, line: 1, message: `has ${word} in its name: say what it does, verb and noun` }))
