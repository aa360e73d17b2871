import { describe, expect, it } from 'vitest'
import { SABOTAGES, type SabotagedStore } from './sabotage.js'
import { simulate } from './simulate.js'

const WITHIN_SEEDS = 500

/** The first seed in which the sabotage breaks this rule. */
const findOut = async ({ sabotage, rule }: SabotagedStore): Promise<number | undefined> => {
  for (let seed = 1; seed <= WITHIN_SEEDS; seed++) {
    const { violations } = await simulate({ seed, sabotage })
    if (violations.some((violation) => violation.rule === rule)) return seed
  }
  return undefined
}

describe('the simulation finds out, within 500 seeds, that', () => {
  it.each(SABOTAGES)('$what', { timeout: 120_000 }, async (store) => {
    const seed = await findOut(store)
    expect(seed).toBeDefined()
    // Found out by what was broken, and not by a fault of the simulation.
    expect((await simulate({ seed: seed ?? 0 })).violations).toEqual([])
  })
})
