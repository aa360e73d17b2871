import { expect, it } from 'vitest'
import { simulate } from './simulate.js'

it.each([1, 2, 3, 4, 5, 6, 7, 8])('seed %i gives the same run, event by event, whenever it is run', async (seed) => {
  const first = await simulate({ seed, isTraced: true })
  const second = await simulate({ seed, isTraced: true })
  expect(first.trace.length).toBeGreaterThan(20)
  expect(second.trace).toEqual(first.trace)
})

it('keeping a trace changes nothing', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { trace: _, ...untraced } = await simulate({ seed })
    const { trace: __, ...traced } = await simulate({ seed, isTraced: true })
    expect(traced).toEqual(untraced)
  }
})
