/** A source of chance that a seed determines entirely. */
export interface Random {
  /** A number from 0, below 1. */
  next(): number
  /** An integer from `least` to `most`, both included. */
  integer(least: number, most: number): number
  /** True with this probability. */
  chance(probability: number): boolean
  /** One of the items. @throws RangeError when there are none */
  pick<T>(items: readonly T[]): T
  /** A source of its own for one purpose, so that what one part draws doesn't move what another gets. */
  fork(purpose: string): Random
}

/** 32 bits of a text (FNV-1a, finished as murmur3 is). */
const hash = (text: string): number => {
  let bits = 0x811c9dc5
  for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193)
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

/** Makes a source of chance (mulberry32) from a seed of any text. */
export const createRandom = (seed: string): Random => {
  let state = hash(seed)
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    integer: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (probability) => next() < probability,
    pick: (items) => {
      const [first] = items
      if (first === undefined) throw new RangeError('there is nothing to pick from')
      return items[Math.floor(next() * items.length)] ?? first
    },
    fork: (purpose) => createRandom(`${seed}/${purpose}`),
  }
}
