import { expect, it } from 'vitest'
import { createRandom } from './random.js'

const draw = (seed: string) => Array.from({ length: 1_000 }, createRandom(seed).next)

it('a seed gives the same numbers, another seed gives others', () => {
  expect(draw('one')).toEqual(draw('one'))
  expect(draw('one')).not.toEqual(draw('two'))
})

it('numbers are spread over all of their range', () => {
  const random = createRandom('spread')
  const counts = new Map<number, number>()
  for (let i = 0; i < 6_000; i++) {
    const face = random.integer(1, 6)
    counts.set(face, (counts.get(face) ?? 0) + 1)
  }
  expect([...counts.keys()].sort()).toEqual([1, 2, 3, 4, 5, 6])
  expect(Math.min(...counts.values())).toBeGreaterThan(850)
})

it('what one purpose draws does not move what another gets', () => {
  const alone = createRandom('seed').fork('a').next()
  const random = createRandom('seed')
  random.next()
  random.fork('b').next()
  expect(random.fork('a').next()).toBe(alone)
})
