import { PostdateError } from './errors.js'
import { nearestWord } from './nearest-word.js'

/**
 * Checks that an object has no properties but known ones.
 * @throws PostdateError `options.unknown`, which names the nearest known one
 */
export const checkKnown = (options: object, known: readonly string[]): void => {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue
    const nearest = nearestWord(name, known)
    throw new PostdateError('options.unknown', { name, known, ...(nearest !== undefined && { nearest }) })
  }
}
