import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Random } from '../simulation/random.js'

/** Something that is done through a client of its own, while others do other things. */
export interface Actor {
  readonly name: string
  readonly client: DynamoDBClient
  readonly act: () => Promise<void>
}

interface Running {
  readonly name: string
  /** Requests that want to go. */
  readonly gates: (() => void)[]
  /** Requests on their way. */
  inFlight: number
  isDone: boolean
  hasEnded: boolean
}

/** Lets everything run that waits for nothing but promises. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Whether an actor waits for its turn, or will never want one again. */
const isStill = ({ gates, inFlight, isDone, hasEnded }: Running) =>
  inFlight === 0 && (gates.length > 0 || isDone || hasEnded)

/**
 * Runs actors so that one request at a time is on its way, chosen by chance among those that any of them wants to make next:
 * the same seed gives the same order. `ends` is the chance that an actor ends for ever where another request would go.
 * @returns the names in the order of their requests, and those that ended
 */
export const interleave = async (
  random: Random,
  actors: readonly Actor[],
  ends = 0,
): Promise<{ readonly order: readonly string[]; readonly ended: ReadonlySet<string> }> => {
  const order: string[] = []
  const sticky = random.pick([0, 0.5, 0.8])
  const running = actors.map(({ name, client, act }) => {
    const one: Running = { name, gates: [], inFlight: 0, isDone: false, hasEnded: false }
    const passGate = () => new Promise<void>((resolve) => one.gates.push(resolve))
    client.middlewareStack.add(
      (next) => async (args) => {
        await passGate()
        try {
          return await next(args)
        } finally {
          one.inFlight--
        }
      },
      { step: 'initialize', priority: 'high' },
    )
    const work = act()
    void work.finally(() => {
      one.isDone = true
    })
    return { one, work }
  })
  for (;;) {
    do await settle()
    while (!running.every(({ one }) => isStill(one)))
    const waiting = running.filter(({ one }) => !one.hasEnded && one.gates.length > 0)
    if (waiting.length === 0) break
    // Often the same one again: some faults take several requests of one between two of another.
    const again = waiting.find(({ one }) => one.name === order.at(-1))
    const { one } = again !== undefined && random.chance(sticky) ? again : random.pick(waiting)
    if (random.chance(ends)) {
      one.hasEnded = true
      order.push(`${one.name} ended`)
      continue
    }
    const [gate] = one.gates.splice(random.integer(0, one.gates.length - 1), 1)
    one.inFlight++
    order.push(one.name)
    gate?.()
  }
  // What an actor threw is a mistake of the test; those that ended never settle.
  await Promise.all(running.filter(({ one }) => !one.hasEnded).map(({ work }) => work))
  for (const { client } of actors) client.destroy()
  return { order, ended: new Set(running.flatMap(({ one }) => (one.hasEnded ? [one.name] : []))) }
}
