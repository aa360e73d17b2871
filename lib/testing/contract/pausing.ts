import type { PauseState } from '../../core/persistence.js'
import { expectEqual } from './expectation.js'
import { type ContractCase, promiseOf, type Subject } from './subject.js'

const pauseOf = ({ persistence }: Subject) => {
  const { readPause, setPause } = persistence.coordination ?? {}
  if (readPause === undefined || setPause === undefined)
    throw new Error(`${persistence.name} can't be paused: give { without: ['pause'] } to leave this out`)
  return { readPause, setPause }
}

const promise = (name: string, check: (pause: ReturnType<typeof pauseOf>) => Promise<void>): ContractCase =>
  promiseOf('pause', name, (subject) => check(pauseOf(subject)))

const state = (paused: boolean, version: number): PauseState => ({ paused, version })

/** What the pause of dispatching promises. */
export const pausingCases: readonly ContractCase[] = [
  promise('dispatching is not paused before anyone paused it', async ({ readPause }) => {
    expectEqual('the pause', await readPause(), state(false, 0))
  }),
  promise('it is paused and resumed, each with the next version', async ({ readPause, setPause }) => {
    for (const next of [state(true, 1), state(false, 2), state(true, 3)]) {
      expectEqual('set', await setPause(next), true)
      expectEqual('the pause', await readPause(), next)
    }
  }),
  promise('who saw another version changes nothing', async ({ readPause, setPause }) => {
    expectEqual('before the first', await setPause(state(true, 2)), false)
    await setPause(state(true, 1))
    for (const version of [1, 3]) expectEqual(`version ${version}`, await setPause(state(false, version)), false)
    expectEqual('the pause', await readPause(), state(true, 1))
  }),
  promise('of several who change it at the same moment exactly one does', async ({ setPause }) => {
    const set = await Promise.all([true, false, true, false].map((paused) => setPause(state(paused, 1))))
    expectEqual('how many', set.filter((one) => one).length, 1)
  }),
]
