import type { Coordination, WorkerLease } from '../../core/persistence.js'
import { expectEqual, expectTrue } from './expectation.js'
import { DUE_AT, sampleMessages } from './message-samples.js'
import { type ContractCase, idsOf, promiseOf, type Subject } from './subject.js'

const coordinationOf = (subject: Subject): Coordination => {
  const { coordination } = subject.persistence
  if (coordination === undefined) {
    throw new Error(
      `${subject.persistence.name} has no coordination: give { without: ['coordination'] } to leave this out`,
    )
  }
  return coordination
}

const promiseCoordination = (name: string, check: (coordination: Coordination, subject: Subject) => Promise<void>) =>
  promiseOf('coordination', name, (subject) => check(coordinationOf(subject), subject))

const leaseOf = (owner: string, epoch: number, leaseUntil = DUE_AT + 6_000): WorkerLease => ({
  owner,
  epoch,
  leaseUntil,
  stopsAt: DUE_AT + 270_000,
})

const shards: readonly ContractCase[] = [
  promiseCoordination('there is at least one shard, and every shard that is written is read', async (coordination) => {
    const { write, read } = await coordination.readShards()
    expectTrue(`write ${write} is an integer from 1`, Number.isInteger(write) && write >= 1)
    expectTrue(`read ${read} is an integer from write ${write}`, Number.isInteger(read) && read >= write)
  }),
  promiseCoordination('the read shards grow, and never shrink', async (coordination) => {
    const before = await coordination.readShards()
    const grown = before.read + 8
    expectEqual('grown', (await coordination.growShards(grown)).read, grown)
    expectEqual('asked for fewer', (await coordination.growShards(1)).read, grown)
    expectEqual('read again', (await coordination.readShards()).read, grown)
  }),
  promiseCoordination('growths at the same moment leave the largest', async (coordination) => {
    const { read } = await coordination.readShards()
    await Promise.all([3, 9, 6, 1].map((more) => coordination.growShards(read + more)))
    expectEqual('read', (await coordination.readShards()).read, read + 9)
  }),
  promiseCoordination('a look without shards looks at every shard that is read', async (coordination, subject) => {
    const { read } = await coordination.growShards(12)
    const messages = sampleMessages(read, 'row', (index) => ({ shard: index, dueAt: DUE_AT + index }))
    await subject.storeNew(...messages)
    const { claims } = await subject.persistence.claimDueOutgoingMessages({
      now: DUE_AT + read,
      dueBefore: DUE_AT + read,
      limit: 1_000,
      leaseMs: 30_000,
    })
    expectEqual('the rows', idsOf(claims), idsOf(messages))
  }),
]

const workers: readonly ContractCase[] = [
  promiseCoordination('there is no worker before the first', async (coordination) => {
    expectEqual('the worker', await coordination.readWorker(), undefined)
  }),
  promiseCoordination('the first takes the lease, and it reads back as it was written', async (coordination) => {
    const lease = leaseOf('a', 1)
    expectEqual('taken', await coordination.takeWorker(lease, undefined), true)
    expectEqual('the worker', await coordination.readWorker(), lease)
  }),
  promiseCoordination('who saw no worker does not take the lease from one', async (coordination) => {
    await coordination.takeWorker(leaseOf('a', 1), undefined)
    expectEqual('taken', await coordination.takeWorker(leaseOf('b', 1), undefined), false)
    expectEqual('the worker', await coordination.readWorker(), leaseOf('a', 1))
  }),
  promiseCoordination('who saw a worker does not take a lease that is not there', async (coordination) => {
    expectEqual('taken', await coordination.takeWorker(leaseOf('b', 2), leaseOf('a', 1)), false)
    expectEqual('the worker', await coordination.readWorker(), undefined)
  }),
  promiseCoordination(
    'the owner renews, another takes over, and neither with what was seen before',
    async (coordination) => {
      const first = leaseOf('a', 1)
      const renewed = leaseOf('a', 1, DUE_AT + 8_000)
      const next = leaseOf('b', 2, DUE_AT + 15_000)
      await coordination.takeWorker(first, undefined)
      expectEqual('renewed', await coordination.takeWorker(renewed, first), true)
      expectEqual('taken with the lease before the renewal', await coordination.takeWorker(next, first), false)
      expectEqual('taken over', await coordination.takeWorker(next, renewed), true)
      expectEqual(
        'renewed after the takeover',
        await coordination.takeWorker(leaseOf('a', 1, DUE_AT + 9_000), renewed),
        false,
      )
      expectEqual('the worker', await coordination.readWorker(), next)
    },
  ),
  promiseCoordination('a lease that was given up is taken by who saw it so', async (coordination) => {
    const first = leaseOf('a', 1)
    await coordination.takeWorker(first, undefined)
    const left = leaseOf('a', 1, 0)
    expectEqual('left', await coordination.takeWorker(left, first), true)
    expectEqual('the worker', await coordination.readWorker(), left)
    expectEqual('taken', await coordination.takeWorker(leaseOf('b', 2), left), true)
  }),
  promiseCoordination('of several takers at the same moment exactly one gets the lease', async (coordination) => {
    const owners = ['a', 'b', 'c', 'd', 'e']
    const taken = await Promise.all(owners.map((owner) => coordination.takeWorker(leaseOf(owner, 1), undefined)))
    expectEqual('how many took it', taken.filter((one) => one).length, 1)
    expectEqual('the worker', (await coordination.readWorker())?.owner, owners[taken.indexOf(true)])
    const seen = await coordination.readWorker()
    const again = await Promise.all(owners.map((owner) => coordination.takeWorker(leaseOf(owner, 2), seen)))
    expectEqual('how many took it over', again.filter((one) => one).length, 1)
  }),
]

/** What the coordination of several processes promises. */
export const coordinatingCases: readonly ContractCase[] = [...shards, ...workers]
