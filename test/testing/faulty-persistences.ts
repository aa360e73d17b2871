import { LEASE_MARGIN_MS } from '../../lib/core/lease.js'
import type { Claim, ClaimResult, OutgoingMessage, Release } from '../../lib/core/persistence.js'
import { type MemoryPersistence, memoryPersistence } from '../../lib/memory/persistence.js'

/** A persistence with one fault that others were found to have, or that is easily made. */
export interface FaultyPersistence {
  readonly fault: string
  readonly make: () => MemoryPersistence
}

type Change = (sound: MemoryPersistence) => Partial<MemoryPersistence>

const faulty = (fault: string, change: Change): FaultyPersistence => ({
  fault,
  make: () => {
    const sound = memoryPersistence()
    return { ...sound, ...change(sound) }
  },
})

const changeLook = (fault: string, change: (look: ClaimResult) => ClaimResult) =>
  faulty(fault, (sound) => ({
    claimDueOutgoingMessages: async (request) => change(await sound.claimDueOutgoingMessages(request)),
  }))

const changeClaim = (fault: string, change: (claim: Claim) => Claim) =>
  changeLook(fault, (look) => ({ ...look, claims: look.claims.map(change) }))

const changeStored = (fault: string, change: (message: OutgoingMessage) => OutgoingMessage) =>
  faulty(fault, (sound) => ({ storeOutgoingMessages: (messages) => sound.storeOutgoingMessages(messages.map(change)) }))

const changeRelease = (fault: string, change: (release: Release) => Release) =>
  faulty(fault, (sound) => ({
    releaseOutgoingMessages: (releases) => sound.releaseOutgoingMessages(releases.map(change)),
  }))

const changeBody = (fault: string, change: (body: string) => string) =>
  changeStored(fault, (message) => ({
    ...message,
    envelope: { ...message.envelope, body: change(message.envelope.body) },
  }))

const giveBackAll = (sound: MemoryPersistence, claims: readonly Claim[], now: number) =>
  sound.releaseOutgoingMessages(claims.map((claim) => ({ claim, published: 'no', notBefore: now })))

/** Remembers the latest claim of each row, as a store does that finds rows by id alone. */
const byIdAlone = (sound: MemoryPersistence) => {
  const latest = new Map<string, Claim>()
  const latestOf = (claim: Claim) => latest.get(claim.rowId) ?? claim
  return {
    latestOf,
    claimDueOutgoingMessages: async (request: Parameters<MemoryPersistence['claimDueOutgoingMessages']>[0]) => {
      const look = await sound.claimDueOutgoingMessages(request)
      for (const claim of look.claims) latest.set(claim.rowId, claim)
      return look
    },
  }
}

const claiming: readonly FaultyPersistence[] = [
  faulty('claims a millisecond early', (sound) => ({
    claimDueOutgoingMessages: (request) =>
      sound.claimDueOutgoingMessages({ ...request, dueBefore: request.dueBefore + 1 }),
  })),
  faulty('claims a millisecond late', (sound) => ({
    claimDueOutgoingMessages: (request) =>
      sound.claimDueOutgoingMessages({ ...request, dueBefore: request.dueBefore - 1 }),
  })),
  faulty('judges leases by the look-ahead', (sound) => ({
    claimDueOutgoingMessages: (request) => sound.claimDueOutgoingMessages({ ...request, now: request.dueBefore }),
  })),
  faulty('forgets the margin of a lease', (sound) => ({
    claimDueOutgoingMessages: (request) =>
      sound.claimDueOutgoingMessages({ ...request, leaseMs: request.leaseMs - LEASE_MARGIN_MS }),
  })),
  faulty('looks ahead by itself', (sound) => ({
    claimDueOutgoingMessages: (request) =>
      sound.claimDueOutgoingMessages({ ...request, dueBefore: request.dueBefore + 500 }),
  })),
  faulty('ignores the shards asked for', (sound) => ({
    claimDueOutgoingMessages: ({ shards: _, ...request }) => sound.claimDueOutgoingMessages(request),
  })),
  faulty('reads shard 0 only', (sound) => ({
    claimDueOutgoingMessages: (request) =>
      sound.claimDueOutgoingMessages({ ...request, shards: request.shards ?? [0] }),
  })),
  faulty('ignores maxBytes', (sound) => ({
    claimDueOutgoingMessages: ({ maxBytes: _, ...request }) => sound.claimDueOutgoingMessages(request),
  })),
  faulty('never claims a row above maxBytes', (sound) => ({
    claimDueOutgoingMessages: async (request) => {
      const look = await sound.claimDueOutgoingMessages(request)
      const tooLarge = look.claims.filter(({ bytes }) => bytes > (request.maxBytes ?? Number.POSITIVE_INFINITY))
      await giveBackAll(sound, tooLarge, request.now)
      return { ...look, claims: look.claims.filter((claim) => !tooLarge.includes(claim)) }
    },
  })),
  faulty('counts held rows against the limit, so that they hide the rows behind them', (sound) => {
    let held = 0
    return {
      claimDueOutgoingMessages: async (request) => {
        const look = await sound.claimDueOutgoingMessages({ ...request, limit: Math.max(0, request.limit - held) })
        held += look.claims.length
        return look
      },
    }
  }),
  faulty('lets two claimers of one moment have the same rows', (sound) => {
    let shared: Promise<ClaimResult> | undefined
    return {
      claimDueOutgoingMessages: (request) => {
        shared ??= sound.claimDueOutgoingMessages(request).finally(() => {
          shared = undefined
        })
        return shared
      },
    }
  }),
  changeLook('hands out the newest first', (look) => ({ ...look, claims: [...look.claims].reverse() })),
  changeLook('never says that there is more', (look) => ({ ...look, more: false })),
  changeLook('always says that there is more', (look) => ({ ...look, more: true })),
  changeLook('never tells what comes next', (look) => ({ ...look, nextDueAt: undefined })),
  changeLook('tells the next instant a millisecond late', (look) => ({
    ...look,
    nextDueAt: look.nextDueAt === undefined ? undefined : look.nextDueAt + 1,
  })),
  changeClaim('does not count claims', (claim) => ({ ...claim, claims: 1 })),
  changeClaim('counts characters as bytes', (claim) => ({ ...claim, bytes: claim.bytes - 6 })),
  changeClaim('loses the target of a redelivery', ({ target: _, ...claim }) => claim),
  changeClaim('loses the attempt of a redelivery', (claim) => ({ ...claim, attempt: 1 })),
]

const storing: readonly FaultyPersistence[] = [
  {
    fault: 'repeats the values of its lease register',
    make: () => memoryPersistence({ ids: { messageId: () => 'id', token: () => 'same' } }),
  },
  faulty('answers a repeat as if it were new', (sound) => ({
    storeOutgoingMessages: async (messages) => {
      const outcomes = await sound.storeOutgoingMessages(messages)
      return outcomes.map((one) => (one.outcome === 'duplicate' ? { outcome: 'stored' } : one))
    },
  })),
  faulty('takes another message under one id for a repeat', (sound) => ({
    storeOutgoingMessages: async (messages) => {
      const outcomes = await sound.storeOutgoingMessages(messages)
      return outcomes.map((one) => (one.outcome === 'conflict' ? { outcome: 'duplicate' } : one))
    },
  })),
  faulty('answers a batch in its own order', (sound) => ({
    storeOutgoingMessages: async (messages) => [...(await sound.storeOutgoingMessages(messages))].reverse(),
  })),
  changeStored('drops falsy attribute values', (message) => {
    const attributes = Object.fromEntries(Object.entries(message.envelope.attributes).filter(([, value]) => value))
    return { ...message, envelope: { ...message.envelope, attributes } }
  }),
  changeStored('ignores the instant when it tells rows apart', (message) => ({
    ...message,
    dueAt: message.dueAt - (message.dueAt % 10),
  })),
  changeBody('parses the body and writes it anew', (body) => {
    try {
      return JSON.stringify(JSON.parse(body))
    } catch {
      return body
    }
  }),
  changeBody('cuts bodies at 64 KB', (body) => body.slice(0, 65_536)),
  faulty('shares envelopes with who claims them', (sound) => {
    const shared = new Map<string, OutgoingMessage>()
    return {
      storeOutgoingMessages: (messages) => {
        for (const message of messages) if (!shared.has(message.rowId)) shared.set(message.rowId, message)
        return sound.storeOutgoingMessages(messages)
      },
      claimDueOutgoingMessages: async (request) => {
        const look = await sound.claimDueOutgoingMessages(request)
        const share = (claim: Claim) => ({ ...claim, envelope: shared.get(claim.rowId)?.envelope ?? claim.envelope })
        return { ...look, claims: look.claims.map(share) }
      },
    }
  }),
]

const settling: readonly FaultyPersistence[] = [
  faulty('settles by id alone', (sound) => {
    const { latestOf, claimDueOutgoingMessages } = byIdAlone(sound)
    return {
      claimDueOutgoingMessages,
      deleteOutgoingMessages: (claims) => sound.deleteOutgoingMessages(claims.map(latestOf)),
    }
  }),
  faulty('releases by id alone', (sound) => {
    const { latestOf, claimDueOutgoingMessages } = byIdAlone(sound)
    const current = (release: Release) => ({ ...release, claim: latestOf(release.claim) })
    return {
      claimDueOutgoingMessages,
      releaseOutgoingMessages: (releases) => sound.releaseOutgoingMessages(releases.map(current)),
    }
  }),
  faulty('answers settled for a row that is gone', (sound) => ({
    deleteOutgoingMessages: async (claims) => {
      const outcomes = await sound.deleteOutgoingMessages(claims)
      return outcomes.map((one) => (one.outcome === 'gone' ? { outcome: 'settled' } : one))
    },
  })),
  changeRelease('gives back at once, whatever was asked', (release) => ({
    ...release,
    notBefore: release.claim.dueAt,
  })),
  changeRelease('gives back a millisecond late', (release) => ({ ...release, notBefore: release.notBefore + 1 })),
  changeRelease('forgets that a message was perhaps published', (release) => ({ ...release, published: 'no' })),
  changeRelease('takes every release for perhaps published', (release) => ({ ...release, published: 'perhaps' })),
  changeRelease('sets failures back', ({ failures: _, ...release }) => ({ ...release, failures: 0 })),
  changeRelease('gives a dead row back instead', ({ dead: _, ...release }) => release),
  changeRelease('loses the reason of a dead row', (release) =>
    release.dead === undefined ? release : { ...release, dead: { ...release.dead, reason: '' } },
  ),
]

const recalling: readonly FaultyPersistence[] = [
  faulty('leaves no tombstone', (sound) => {
    const known = new Set<string>()
    return {
      storeOutgoingMessages: (messages) => {
        for (const { rowId } of messages) known.add(rowId)
        return sound.storeOutgoingMessages(messages)
      },
      recallOutgoingMessage: async (address, now) =>
        known.has(address.rowId) || now >= address.dueAt ? sound.recallOutgoingMessage(address, now) : 'not-found',
    }
  }),
  ...[-1, 1].map((by) =>
    faulty(`recalls with a clock that is off by ${by} ms`, (sound) => ({
      recallOutgoingMessage: (address, now) => sound.recallOutgoingMessage(address, now + by),
    })),
  ),
  ...(
    [
      ['possibly-delivered', 'recalled'],
      ['too-late', 'not-found'],
      ['already-recalled', 'recalled'],
      ['too-late', 'recalled'],
      ['recalled', 'possibly-delivered'],
    ] as const
  ).map(([truth, told]) =>
    faulty(`answers ${told} where ${truth} is the truth`, (sound) => ({
      recallOutgoingMessage: async (address, now) => {
        const answer = await sound.recallOutgoingMessage(address, now)
        return answer === truth ? told : answer
      },
    })),
  ),
]

const counting: readonly FaultyPersistence[] = [
  faulty('counts a millisecond early', (sound) => ({ measureBacklog: (now) => sound.measureBacklog(now + 1) })),
  faulty('does not count the dead', (sound) => ({
    measureBacklog: async (now) => ({ ...(await sound.measureBacklog(now)), dead: 0 }),
  })),
  faulty('lists one dead row too many', (sound) => ({
    inspection: { listDead: (limit) => sound.inspection.listDead(limit + 1) },
  })),
  faulty('lets a worker take a lease that it did not see', (sound) => ({
    coordination: {
      ...sound.coordination,
      takeWorker: async (next) => sound.coordination.takeWorker(next, await sound.coordination.readWorker()),
    },
  })),
  faulty('does not see that a worker renewed', (sound) => ({
    coordination: {
      ...sound.coordination,
      takeWorker: async (next, seen) => {
        const now = await sound.coordination.readWorker()
        return sound.coordination.takeWorker(next, seen && now && { ...seen, leaseUntil: now.leaseUntil })
      },
    },
  })),
  faulty('lets the read shards shrink', (sound) => {
    let read = 1
    return {
      coordination: {
        ...sound.coordination,
        readShards: async () => ({ write: 1, read }),
        growShards: async (atLeast) => {
          read = atLeast
          return { write: 1, read }
        },
      },
    }
  }),
]

/** Faults that the contract has to find, each in a persistence that is sound otherwise. */
export const faultyPersistences: readonly FaultyPersistence[] = [
  ...claiming,
  ...storing,
  ...settling,
  ...recalling,
  ...counting,
]
