/** Edits between two words (Levenshtein): for naming the option that was probably meant. */
const editsBetween = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (const [i, a] of [...one].entries()) {
    const next = [i + 1]
    for (const [j, b] of [...other].entries()) {
      const replaced = (row[j] ?? 0) + (a.toLowerCase() === b.toLowerCase() ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}

/** The known word nearest to an unknown one, if any is near. */
export const nearestWord = (word: string, known: readonly string[]): string | undefined => {
  const ranked = known
    .map((candidate) => ({ candidate, edits: editsBetween(word, candidate) }))
    .sort((a, b) => a.edits - b.edits)
  const [best] = ranked
  return best !== undefined && best.edits <= Math.max(2, word.length / 3) ? best.candidate : undefined
}
