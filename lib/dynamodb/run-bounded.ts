/** Runs work on every item, at most `bound` at a time, and answers the results in order. The first failure rejects. */
export const runBounded = async <T, R>(
  items: readonly T[],
  bound: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = new Array(items.length)
  const left = items.entries()
  const runLane = async () => {
    for (const [index, item] of left) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(bound, items.length) }, runLane))
  return results
}
